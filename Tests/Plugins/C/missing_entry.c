/* A library, but no plugin: it exports something else. */
int not_a_plugin(void) { return 1; }
