/*
 * Scheduled functions whose schedules or time zones are none.
 */
#include "plugin.h"

static void invoke(const hearth_invocation *i) { answer(i->id, HEARTH_RESULT, "null"); }

#define FUNCTION(name, schedule, zone) "\"" name "\":{\"scheduleTrigger\":{\"schedule\":\"" schedule "\",\"timeZone\":" zone "}}"

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{"
    FUNCTION("fine", "every 5 minutes", "null") ","
    FUNCTION("hour", "0 25 * * *", "\"UTC\"") ","
    FUNCTION("zone", "every day 03:00", "\"Europe/Atlantis\"") ","
    FUNCTION("never", "0 0 30 2 *", "\"UTC\"")
    "}}")
