/* Functions from which generated calls draw their arguments, and the state of the call that is made. */
#ifndef ENGINE_H
#define ENGINE_H

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "plaq.h"

typedef struct {
  const char *name;
  int32_t (*call)(void);
  /* Whether all ranks of a context make the call together. */
  int together;
} entry;
extern const entry entries[];
extern const int entry_count, kind_count;
/* Kinds of handles whose objects can be compared: numbers of plaq_context, plaq_gauge, plaq_spinor. */
extern const int kind_context, kind_gauge, kind_spinor;

uint64_t draw(void);
int below(int n);
int percent(int p);

/* A handle of this kind: mostly of a living object, else one that must be refused. */
int64_t handle(int kind);
int64_t handle_or_none(int kind);
int64_t handle_to_destroy(int kind);
int64_t integer(const char *name);
int64_t entries_of_array(const char *name);
double real(const char *name);
int32_t choice(const int32_t *values, int count);
void extents(int32_t *four);
void four_integers(const char *name, int32_t *four);

/* Memory for a result, which must be unchanged after a call that fails. */
void *out(size_t bytes, int may_be_null);
/* Memory for an array of results, likewise. */
void *out_array(int may_be_null);
void *data_in(void);
void *data_out(void);
const double *numbers_in(void);
const int32_t *integers_in(const char *name);
const char *path(void);
char *text_out(void);
void *user(void);
/* The answer of a callback: 0 as long as the work may go on. */
int32_t called(void);

/* Number of arrays of the layout that is passed; 0: one block. */
void layout_of_call(int32_t list);
/* Generated: prepares every call. */
void begin_calls(void);
/* Generated: whether this function makes an object that others need. */
int makes_objects(const char *name);
void engine_fault(const char *what);
void partly_used(void);
/* Keeps the contents of results before the call. */
void engine_remember(void);

/* Records the results of a call that succeeded. */
void made(int kind, int64_t id);
void destroyed(int kind, int64_t id);
void text(const char *found);

#endif
