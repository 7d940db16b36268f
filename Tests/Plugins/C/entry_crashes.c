/* Ends its process while it is loaded. */
#include "plugin.h"
#include <stdlib.h>

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    abort();
}
