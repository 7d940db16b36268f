/* Leaves out what may not be left out. */
#include "plugin.h"

static void (*const invoke)(const hearth_invocation *) = NULL;

PLUGIN(ONE_CALLABLE("noInvoke"))
