/* Stands in for NCCL where there is no GPU: messages between processes of one machine through memory that they
 * share, between addresses of the host. A stream is two counters, of the groups that were put on it and of those that
 * are done; a thread of each communicator moves the bytes, as a GPU would, while the caller goes on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };
enum { ROOM = 1 << 16, MOST = 64 };

typedef struct {
  char internal[128];
} id;
typedef struct {
  _Atomic uint64_t written, read;
  char data[ROOM];
} channel;
typedef struct {
  _Atomic int joined;
  channel channels[];
} meeting;
typedef struct {
  _Atomic uint64_t put, done;
} stream;
typedef struct {
  char *at;
  size_t bytes, moved;
  int peer, receives;
} message;
typedef struct group {
  struct group *next;
  stream *on;
  int count;
  message messages[MOST];
  /* A sum over all ranks: the numbers, their count, and those of every rank. */
  double *sums, *all;
  size_t n;
} group;
typedef struct {
  int rank, ranks;
  size_t bytes;
  meeting *shared;
  pthread_t thread;
  pthread_mutex_t lock;
  group *first, **last;
  _Atomic int ends, aborted;
} comm;

static __thread group *open_group;
static __thread comm *open_comm;

static channel *between(comm *c, int from, int to) { return &c->shared->channels[from * c->ranks + to]; }

/* Moves those bytes of a message that can be moved now. */
static void move(comm *c, message *m) {
  channel *way = m->receives ? between(c, m->peer, c->rank) : between(c, c->rank, m->peer);
  uint64_t written = way->written, read = way->read;
  size_t can = m->receives ? written - read : ROOM - (written - read), left = m->bytes - m->moved;
  uint64_t from = (m->receives ? read : written) % ROOM;
  size_t n = can < left ? can : left;
  if (n > ROOM - from) n = ROOM - from;
  if (n == 0) return;
  if (m->receives)
    memcpy(m->at + m->moved, way->data + from, n), way->read = read + n;
  else
    memcpy(way->data + from, m->at + m->moved, n), way->written = written + n;
  m->moved += n;
}

static void run(comm *c, group *g) {
  for (int open = 1; open && !c->aborted;) {
    open = 0;
    for (int i = 0; i < g->count; i++) {
      message *m = &g->messages[i];
      /* Messages between two ranks are matched in the order of the calls. */
      int waits = 0;
      for (int k = 0; k < i; k++)
        waits |= g->messages[k].peer == m->peer && g->messages[k].receives == m->receives && g->messages[k].moved < g->messages[k].bytes;
      if (!waits) move(c, m);
      open |= m->moved < m->bytes;
    }
    if (open) sched_yield();
  }
}

/* Adds up in the order of ranks, which gives the same bits on each. */
static void add_up(const comm *c, group *g) {
  for (size_t i = 0; i < g->n; i++) {
    double sum = 0;
    for (int rank = 0; rank < c->ranks; rank++) sum += rank == c->rank ? g->sums[i] : g->all[(size_t)rank * g->n + i];
    g->sums[i] = sum;
  }
}

static void *serve(void *arg) {
  comm *c = arg;
  for (;;) {
    pthread_mutex_lock(&c->lock);
    group *g = c->first;
    if (g && !(c->first = g->next)) c->last = &c->first;
    pthread_mutex_unlock(&c->lock);
    if (g) {
      run(c, g);
      if (g->sums && !c->aborted) add_up(c, g);
      free(g->all);
      g->on->done++;
      free(g);
    } else if (c->ends) {
      return NULL;
    } else {
      struct timespec little = {0, 20000};
      nanosleep(&little, NULL);
    }
  }
}

int ncclGetVersion(int *version) { return *version = 22900, SUCCESS; }
const char *ncclGetErrorString(int code) { return code == SYSTEM_ERROR ? "unhandled system error" : "invalid"; }

int ncclGetUniqueId(id *out) {
  static _Atomic int number;
  memset(out, 0, sizeof *out);
  snprintf(out->internal, sizeof out->internal, "/plaq-nccl-%d-%d", (int)getpid(), number++);
  return SUCCESS;
}

int ncclCommInitRank(comm **out, int ranks, id where, int rank) {
  comm *c = calloc(1, sizeof *c);
  c->rank = rank, c->ranks = ranks, c->last = &c->first;
  c->bytes = sizeof(meeting) + sizeof(channel) * (size_t)ranks * (size_t)ranks;
  int file = shm_open(where.internal, O_CREAT | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, (off_t)c->bytes)) return SYSTEM_ERROR;
  c->shared = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (c->shared == MAP_FAILED) return SYSTEM_ERROR;
  /* Waits without a limit, as the real library does. */
  for (c->shared->joined++; c->shared->joined < ranks;) sched_yield();
  if (rank == 0) shm_unlink(where.internal);
  pthread_mutex_init(&c->lock, NULL);
  if (pthread_create(&c->thread, NULL, serve, c)) return SYSTEM_ERROR;
  return *out = c, SUCCESS;
}

int ncclGroupStart(void) { return open_group ? INVALID_USAGE : (open_group = calloc(1, sizeof *open_group), SUCCESS); }

static int add(char *at, size_t bytes, int type, int peer, comm *c, stream *on, int receives) {
  group *g = open_group;
  if (!g || type != 0 || g->count == MOST || peer < 0 || peer >= c->ranks || (g->on && g->on != on)) return INVALID_ARGUMENT;
  g->on = on, open_comm = c;
  g->messages[g->count++] = (message){at, bytes, 0, peer, receives};
  return SUCCESS;
}
int ncclSend(const void *at, size_t n, int type, int peer, comm *c, stream *on) { return add((char *)at, n, type, peer, c, on, 0); }
int ncclRecv(void *at, size_t n, int type, int peer, comm *c, stream *on) { return add(at, n, type, peer, c, on, 1); }

int ncclGroupEnd(void) {
  group *g = open_group;
  comm *c = open_comm;
  open_group = NULL;
  if (!g || !g->count) return free(g), SUCCESS;
  g->on->put++;
  pthread_mutex_lock(&c->lock);
  *c->last = g, c->last = &g->next;
  pthread_mutex_unlock(&c->lock);
  return SUCCESS;
}

int ncclAllReduce(const void *from, void *to, size_t n, int type, int op, comm *c, stream *on) {
  if (from != to || type != 8 || op != 0 || open_group || 2 * (c->ranks - 1) > MOST) return INVALID_ARGUMENT;
  ncclGroupStart();
  group *g = open_group;
  g->on = on, g->sums = to, g->n = n, open_comm = c;
  g->all = malloc(sizeof(double) * n * (size_t)c->ranks);
  for (int rank = 0; rank < c->ranks; rank++) {
    if (rank == c->rank) continue;
    g->messages[g->count++] = (message){to, 8 * n, 0, rank, 0};
    g->messages[g->count++] = (message){(char *)(g->all + (size_t)rank * n), 8 * n, 0, rank, 1};
  }
  return ncclGroupEnd();
}

int ncclCommGetAsyncError(comm *c, int *code) { return *code = c ? SUCCESS : INVALID_ARGUMENT, SUCCESS; }

int ncclCommDestroy(comm *c) {
  if (!c) return SUCCESS;
  c->ends = 1;
  pthread_join(c->thread, NULL);
  munmap(c->shared, c->bytes);
  return free(c), SUCCESS;
}
int ncclCommAbort(comm *c) {
  if (c) c->aborted = 1;
  return ncclCommDestroy(c);
}
