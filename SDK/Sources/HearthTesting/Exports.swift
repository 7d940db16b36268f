// A test imports HearthTesting alone: the types of functions come with it.
@_exported public import HearthFunctions
