/* The engine with many ranks, which make the same calls from the same random numbers, until now and then one of them
 * deviates. Then all must fail, or none, and go on or end by a deadline. */
#include <mpi.h>

enum { SAME, OTHER_ARGUMENTS, LATE, SKIPS, OTHER_FUNCTION, WAYS, MAX_RANKS = 64 };
static int rank, ranks;

static void begin_ranks(void) {
  int level;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > MAX_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
}

static int anywhere(int yes) {
  MPI_Allreduce(MPI_IN_PLACE, &yes, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return yes;
}

static int end_ranks(int bad) {
  bad = anywhere(bad);
  MPI_Finalize();
  return bad;
}

/* The clock of the first rank decides. */
static int go_on(int yes) {
  MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return yes;
}

static void before_episode(void) {
  static MPI_Comm world;
  plaq_context_params p;
  plaq_context c = {0};
  int status;
  world = MPI_COMM_WORLD;
  plaq_context_params_init(&p, sizeof p);
  p.device = gpu ? PLAQ_DEVICE_CUDA : PLAQ_DEVICE_CPU;
  p.threads = 1;
  p.communicator_kind = PLAQ_COMMUNICATOR_C;
  p.communicator = &world;
  p.timeout = 4;
  MPI_Barrier(MPI_COMM_WORLD);
  status = plaq_context_create(&p, &c);
  if (anywhere(status != 0)) {
    /* A machine that is busy for longer than the time-out is not counted as a fault. */
    if (status && status != PLAQ_COMM_FAILED) fault("no context", status);
    if (status == 0) plaq_context_destroy(c);
    return;
  }
  context_of_call = c.id;
  made(kind_context, c.id);
}

/* All ranks make and destroy contexts together, between episodes. */
static int left_out(int n) { return says(entries[n].name, "plaq_context_create") || says(entries[n].name, "plaq_context_destroy"); }

static int one_call(void) {
  int how = percent(8) ? 1 + below(WAYS - 1) : SAME, who = below(ranks), me = how != SAME && who == rank, n, i;
  int32_t status = PLAQ_SUCCESS, mine[2] = {0, 0}, all_ranks[2 * MAX_RANKS];
  uint64_t common;
  int fine_here = 0, bad = 0, lost = 0, apart = 0, strange = how == SKIPS || how == OTHER_FUNCTION;
  do n = choose_entry();
  while (left_out(n));
  common = draw();
  if (me) {
    if (how == OTHER_ARGUMENTS) state ^= 0x9e3779b97f4a7c15u * (uint64_t)(rank + 1);
    if (how == LATE) usleep(300000);
    if (how == OTHER_FUNCTION)
      do n = below(entry_count);
      while (left_out(n));
  }
  if (!me || how != SKIPS) {
    status = make_call(n);
    check(status);
    fine_here = status == 0;
  }
  state = common;
  for (i = 0; i < kind_count; i++) mine[1] = 31 * mine[1] + alive[i];
  mine[0] = status;
  MPI_Allgather(mine, 2, MPI_INT32_T, all_ranks, 2, MPI_INT32_T, MPI_COMM_WORLD);
  for (i = 0; i < ranks; i++) {
    if (how == SKIPS && i == who) continue;
    bad += all_ranks[2 * i] != 0;
    lost += all_ranks[2 * i] == PLAQ_COMM_FAILED;
    apart += all_ranks[2 * i + 1] != all_ranks[1];
  }
  fine_here = anywhere(fine_here);
  /* An error that is found before the ranks of a call are known concerns one rank alone. */
  if (fine_here && bad && entries[n].together && !strange) fault("ranks that do not agree", how);
  return !(lost || apart || strange || (fine_here && bad));
}
