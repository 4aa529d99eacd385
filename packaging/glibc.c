/* Linked into the library and the programs for x86_64 Linux, so that what is built on a new system runs on one with
 * glibc 2.28 (RHEL 8). The names below got a newer version since; here they are bound to the older one, which every
 * glibc still has. Nothing of this is exported. `scripts/glibc.sh` says which version a file needs. */

#include <limits.h>
#if defined __x86_64__ && defined __GLIBC__

#define HIDDEN __attribute__((visibility("hidden")))

/* A section each: the linker drops what is not called. The jump leaves arguments and return address alone: dlopen looks at its caller. */
#define BIND(name, version)                                                                                            \
  __asm__(".symver older_" #name ", " #name "@GLIBC_" version "\n"                                                     \
          ".pushsection .text." #name ", \"ax\", @progbits\n"                                                         \
          ".globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ":\n"                              \
          ".cfi_startproc\n jmp *older_" #name "@GOTPCREL(%rip)\n.cfi_endproc\n.size " #name ", . - " #name "\n"      \
          ".popsection\n")

/* Without the error handling of System V since 2.29, hypot since 2.35. */
BIND(exp, "2.2.5");
BIND(exp2, "2.2.5");
BIND(log, "2.2.5");
BIND(log2, "2.2.5");
BIND(pow, "2.2.5");
BIND(hypot, "2.2.5");

/* Moved from libpthread.so.0 and libdl.so.2, which are linked to as well, into libc.so.6. */
BIND(pthread_getattr_np, "2.2.5");
BIND(pthread_sigmask, "2.2.5");
BIND(pthread_attr_getguardsize, "2.2.5");
BIND(pthread_attr_getstack, "2.2.5");
BIND(pthread_attr_setstacksize, "2.2.5");
BIND(pthread_create, "2.2.5");
BIND(pthread_detach, "2.2.5");
BIND(pthread_join, "2.2.5");
BIND(pthread_key_create, "2.2.5");
BIND(__pthread_key_create, "2.2.5");
BIND(pthread_key_delete, "2.2.5");
BIND(pthread_getspecific, "2.2.5");
BIND(pthread_setspecific, "2.2.5");
BIND(pthread_mutex_trylock, "2.2.5");
BIND(pthread_setname_np, "2.12");
BIND(dladdr, "2.2.5");
BIND(dladdr1, "2.3.3");
BIND(dlclose, "2.2.5");
BIND(dlerror, "2.2.5");
BIND(dlopen, "2.2.5");
BIND(dlsym, "2.2.5");

/* Were in no shared library before 2.33. The number is that of struct stat. */
extern int __xstat64(int, const char *, void *), __lxstat64(int, const char *, void *), __fxstat64(int, int, void *);
extern int __fxstatat64(int, int, const char *, void *, int);
HIDDEN int stat64(const char *path, void *result) { return __xstat64(1, path, result); }
HIDDEN int lstat64(const char *path, void *result) { return __lxstat64(1, path, result); }
HIDDEN int fstat64(int file, void *result) { return __fxstat64(1, file, result); }
HIDDEN int fstatat64(int at, const char *path, void *result, int flags) {
  return __fxstatat64(1, at, path, result, flags);
}
/* Of 64 bits, too. */
HIDDEN int stat(const char *path, void *result) { return __xstat64(1, path, result); }
HIDDEN int lstat(const char *path, void *result) { return __lxstat64(1, path, result); }
HIDDEN int fstat(int file, void *result) { return __fxstat64(1, file, result); }

/* Not in 2.28: by the number of the system call; and refused with ENOSYS where the C library has none, which is met
 * by programs alone that start others in another folder. */
extern long syscall(long, ...);
extern void *dlsym(void *, const char *);
HIDDEN int gettid(void) { return (int)syscall(186); }
HIDDEN int posix_spawn_file_actions_addchdir_np(void *actions, const char *path) {
  int (*there)(void *, const char *) = (int (*)(void *, const char *))dlsym(0, "posix_spawn_file_actions_addchdir_np");
  return there ? there(actions, path) : 38;
}

/* Since 2.34 the C library calls the constructors of a program, before that the program did. */
typedef void constructor(int, char **, char **);
extern HIDDEN constructor *__init_array_start[], *__init_array_end[];
extern int older_start(int (*)(int, char **, char **), int, char **, constructor *, void (*)(void), void (*)(void), void *);
__asm__(".symver older_start, __libc_start_main@GLIBC_2.2.5");
static void construct(int argc, char **argv, char **environment) {
  for (constructor **one = __init_array_start; one != __init_array_end; one++) (*one)(argc, argv, environment);
}
HIDDEN int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, constructor *init,
                             void (*fini)(void), void (*loader)(void), void *stack) {
  return older_start(main, argc, argv, init ? init : construct, fini, loader, stack);
}

#endif
