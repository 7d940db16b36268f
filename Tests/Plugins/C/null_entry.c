/* Says why it cannot run here, and does not. */
#include "plugin.h"
#include <stdio.h>

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    fputs("null_entry needs a Tuesday.\n", stderr);
    return NULL;
}
