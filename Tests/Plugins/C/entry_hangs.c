/* Never comes back from being loaded. */
#include "plugin.h"
#include <unistd.h>

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    for (;;) pause();
}
