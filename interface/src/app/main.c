/* The executable `plaq`: everything is in the library. */
int plaq_program_main(int argc, const char *const *argv);

int main(int argc, char **argv) { return plaq_program_main(argc, (const char *const *)argv); }
