// A plugin says `import HearthFunctions` and nothing else: the values it meets in requests and the logger come along.
@_exported public import enum HearthJSON.JSONValue
@_exported public import struct HearthJSON.JSONObject
@_exported public import Logging
