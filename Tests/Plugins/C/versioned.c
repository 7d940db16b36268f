/* Answers with the VERSION that it was built with, kept in a variable that every version has under the same name. */
#include "plugin.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

char hearth_test_version[] = TEXT(VERSION);

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, hearth_test_version); }

PLUGIN(ONE_CALLABLE("version" TEXT(VERSION)))
