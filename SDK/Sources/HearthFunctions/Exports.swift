// A plugin imports HearthFunctions alone: the values of requests and answers come with it.
@_exported public import enum HearthJSON.JSONValue
@_exported public import struct HearthJSON.JSONObject
