extension Schema {
    /// The schema of a plugin's manifest. Only authors of plugins in other languages than Swift write manifests, with the help of
    /// `docs/configuration.md`; so the schema is kept here, beside the code that uses it.
    static let manifestText = #"""
{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "manifest.schema.json",
  "title": "Plugin manifest",
  "description": "The description of a plugin's functions. An option that is absent or null has the host's default.",
  "type": "object",
  "required": ["specVersion", "endpoints"],
  "additionalProperties": false,
  "properties": {
    "specVersion": { "description": "Version of the format.", "const": "v1alpha1", "examples": ["v1alpha1"] },
    "params": {
      "description": "Parameters of the plugin. Their values come from the environment files.",
      "type": "array",
      "items": { "$ref": "#/$defs/param" },
      "maxItems": 1000,
      "default": [],
      "examples": [[{ "name": "GREETING", "type": "string", "default": "Hello" }]]
    },
    "requiredAPIs": {
      "description": "Services of the hosted product that the functions use. Ignored.",
      "type": "array",
      "items": { "type": "object" },
      "default": [],
      "examples": [[]]
    },
    "endpoints": {
      "description": "The functions by name. The host calls them by their index in this order.",
      "type": "object",
      "propertyNames": { "$ref": "functions.schema.json#/$defs/functionName" },
      "additionalProperties": { "$ref": "#/$defs/endpoint" },
      "examples": [{ "increment": { "entryPoint": "increment", "callableTrigger": {} } }]
    }
  },
  "$defs": {
    "param": {
      "description": "One parameter of the plugin.",
      "type": "object",
      "required": ["name"],
      "additionalProperties": false,
      "properties": {
        "name": {
          "description": "Name of the environment variable that holds the value.",
          "type": "string",
          "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,254}$",
          "expectation": "a name of letters, digits and _",
          "examples": ["GREETING"]
        },
        "type": {
          "description": "The type of the value. A `secret` comes from `.secret.local` and reaches only functions that name it.",
          "enum": ["string", "int", "float", "boolean", "list", "secret"],
          "default": "string",
          "examples": ["int"]
        },
        "label": { "description": "A display name.", "type": "string", "examples": ["Greeting"] },
        "description": { "description": "The purpose of the value.", "type": "string", "examples": ["What to say first"] },
        "default": {
          "description": "The default value.",
          "type": ["string", "number", "boolean", "array"],
          "examples": ["Hello"]
        },
        "format": { "description": "`json` for a secret that holds JSON.", "type": "string", "examples": ["json"] },
        "input": {
          "description": "How a tool asks for the value. `text.validationRegex` and the values of `select` are checked.",
          "type": "object",
          "examples": [{ "text": { "validationRegex": "^[a-z]+$", "validationErrorMessage": "lower-case letters" } }]
        }
      }
    },
    "endpoint": {
      "description": "One function. It has exactly one of the triggers.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "entryPoint": {
          "description": "Name of the function in the code. Default: the function's name.",
          "type": "string",
          "minLength": 1,
          "examples": ["addMessage"]
        },
        "platform": {
          "description": "Generation: `gcfv1` is the first, the others the second.",
          "enum": ["gcfv1", "gcfv2", "run"],
          "default": "gcfv2",
          "examples": ["gcfv1"]
        },
        "callableTrigger": {
          "description": "Called by client SDKs through the callable protocol.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "genkitAction": { "description": "Ignored.", "type": "string", "examples": ["chat"] }
          },
          "examples": [{}]
        },
        "httpsTrigger": {
          "description": "Called by any HTTP request.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "invoker": {
              "description": "The accounts that may call it.",
              "type": ["array", "null"],
              "items": { "type": "string", "minLength": 1 },
              "examples": [["private"]]
            }
          },
          "examples": [{}]
        },
        "eventTrigger": {
          "description": "Triggered by an event, such as a write to the database.",
          "$ref": "#/$defs/eventTrigger",
          "examples": [
            { "eventType": "google.firebase.database.ref.v1.created", "eventFilterPathPatterns": { "ref": "messages/{id}" } }
          ]
        },
        "blockingTrigger": {
          "description": "Called before a user signs up or in, or gets a message, which waits for the answer.",
          "type": "object",
          "required": ["eventType"],
          "additionalProperties": false,
          "properties": {
            "eventType": {
              "description": "The operation.",
              "enum": [
                "providers/cloud.auth/eventTypes/user.beforeCreate", "providers/cloud.auth/eventTypes/user.beforeSignIn",
                "providers/cloud.auth/eventTypes/user.beforeSendEmail", "providers/cloud.auth/eventTypes/user.beforeSendSms"
              ],
              "examples": ["providers/cloud.auth/eventTypes/user.beforeCreate"]
            },
            "options": {
              "description": "The credentials of identity providers that the function sees.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "idToken": { "description": "The ID token.", "type": "boolean", "default": false, "examples": [true] },
                "accessToken": { "description": "The access token.", "type": "boolean", "default": false, "examples": [true] },
                "refreshToken": { "description": "The refresh token.", "type": "boolean", "default": false, "examples": [true] }
              },
              "default": {},
              "examples": [{ "accessToken": true }]
            }
          },
          "examples": [{ "eventType": "providers/cloud.auth/eventTypes/user.beforeCreate" }]
        },
        "scheduleTrigger": {
          "description": "Called at due times.",
          "$ref": "#/$defs/scheduleTrigger",
          "examples": [{ "schedule": "every day 03:00", "timeZone": "Europe/Berlin" }]
        },
        "taskQueueTrigger": {
          "description": "Called with the tasks of a queue, which has the name of the function.",
          "$ref": "#/$defs/taskQueueTrigger",
          "examples": [{ "rateLimits": { "maxDispatchesPerSecond": 5 } }]
        },
        "region": {
          "description": "Regions of the function.",
          "type": ["array", "null"],
          "items": { "$ref": "functions.schema.json#/$defs/region" },
          "minItems": 1,
          "examples": [["us-central1"]]
        },
        "availableMemoryMb": {
          "description": "Memory of one worker in MiB.",
          "anyOf": [{ "type": "integer", "minimum": 16, "maximum": 32768 }, { "$ref": "#/$defs/indirect" }],
          "default": 256,
          "examples": [512]
        },
        "cpu": {
          "description": "Share of processors.",
          "anyOf": [{ "$ref": "functions.schema.json#/$defs/cpu" }, { "$ref": "#/$defs/indirect" }],
          "examples": [1]
        },
        "concurrency": {
          "description": "Concurrent calls of one worker.",
          "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 1000 }, { "$ref": "#/$defs/indirect" }],
          "examples": [80]
        },
        "timeoutSeconds": {
          "description": "Time for one call; 0 equals absent. The maximum depends on the trigger.",
          "anyOf": [{ "type": "number", "minimum": 0, "maximum": 3600 }, { "$ref": "#/$defs/indirect" }],
          "default": 60,
          "examples": [60]
        },
        "minInstances": {
          "description": "Workers kept without calls.",
          "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 1000 }, { "$ref": "#/$defs/indirect" }],
          "default": 0,
          "examples": [1]
        },
        "maxInstances": {
          "description": "Workers at most; 0 equals absent.",
          "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 1000 }, { "$ref": "#/$defs/indirect" }],
          "default": 4,
          "examples": [4]
        },
        "labels": {
          "description": "Labels of the function.",
          "$ref": "functions.schema.json#/$defs/labels",
          "default": {},
          "examples": [{ "team": "chat" }]
        },
        "environmentVariables": {
          "description": "Environment variables that the code sets.",
          "type": "object",
          "additionalProperties": { "type": "string" },
          "default": {},
          "examples": [{}]
        },
        "secretEnvironmentVariables": {
          "description": "Secrets that the function may see.",
          "type": ["array", "null"],
          "items": {
            "type": "object",
            "required": ["key"],
            "additionalProperties": false,
            "properties": {
              "key": {
                "description": "Name of the secret.",
                "$ref": "functions.schema.json#/$defs/secretName",
                "examples": ["API_KEY"]
              },
              "secret": { "description": "Ignored.", "type": "string", "examples": ["API_KEY"] },
              "projectId": { "description": "Ignored.", "type": "string", "examples": ["demo-hearth"] }
            }
          },
          "default": [],
          "examples": [[{ "key": "API_KEY" }]]
        },
        "ingressSettings": {
          "description": "The networks that calls may come from.",
          "enum": ["ALLOW_ALL", "ALLOW_INTERNAL_ONLY", "ALLOW_INTERNAL_AND_GCLB", null],
          "default": "ALLOW_ALL",
          "examples": ["ALLOW_ALL"]
        },
        "serviceAccount": {
          "description": "Ignored: a worker has no cloud account.",
          "type": ["string", "null"],
          "examples": ["default"]
        },
        "serviceAccountEmail": {
          "description": "The older name of `serviceAccount`.",
          "type": ["string", "null"],
          "examples": ["default"]
        },
        "vpc": {
          "description": "Ignored: a worker uses the network of the machine.",
          "type": ["object", "null"],
          "examples": [null]
        },
        "omit": {
          "description": "Leave the function out.",
          "type": ["boolean", "string"],
          "pattern": "^\\{\\{.*\\}\\}$",
          "expectation": "true, false or a parameter expression",
          "default": false,
          "examples": [true]
        },
        "enforceAppCheck": {
          "description": "Refuse calls without a valid App Check token.",
          "type": ["boolean", "null"],
          "default": false,
          "examples": [true]
        },
        "consumeAppCheckToken": {
          "description": "Mark App Check tokens as used.",
          "type": ["boolean", "null"],
          "default": false,
          "examples": [true]
        },
        "cors": {
          "description": "The web origins that may call the function.",
          "anyOf": [{ "$ref": "functions.schema.json#/$defs/cors" }, { "type": "null" }],
          "expectation": "true, false, an origin, {\"regex\": \"...\"} or a list of these",
          "examples": [true]
        },
        "heartbeatSeconds": {
          "description": "Time without a chunk after which a stream sends a heartbeat; null or 0 sends none.",
          "type": ["number", "null"],
          "minimum": 0,
          "maximum": 3600,
          "default": 30,
          "examples": [10]
        },
        "heartbeatStyle": {
          "description": "The form of the heartbeat.",
          "enum": ["padding", "comment", "off"],
          "default": "padding",
          "examples": ["comment"]
        },
        "allowedHosts": {
          "description": "The hosts that the function may send requests to.",
          "type": ["array", "null"],
          "items": { "$ref": "functions.schema.json#/$defs/allowedHost" },
          "maxItems": 1000,
          "examples": [["api.example.com", "10.0.0.0/8"]]
        }
      }
    },
    "eventTrigger": {
      "description": "The events that trigger the function.",
      "type": "object",
      "required": ["eventType"],
      "additionalProperties": false,
      "properties": {
        "eventType": {
          "description": "Kind of the event.",
          "type": "string",
          "minLength": 1,
          "examples": ["google.firebase.database.ref.v1.created"]
        },
        "eventFilters": {
          "description": "Attributes that the event must have.",
          "type": "object",
          "additionalProperties": { "type": "string" },
          "default": {},
          "examples": [{ "instance": "demo-hearth-default-rtdb" }]
        },
        "eventFilterPathPatterns": {
          "description": "Attributes that must match a pattern with `{name}`, `*` and `**`.",
          "type": "object",
          "additionalProperties": { "type": "string" },
          "default": {},
          "examples": [{ "ref": "messages/{id}" }]
        },
        "retry": {
          "description": "Run it again when it fails.",
          "type": ["boolean", "null"],
          "default": false,
          "examples": [true]
        },
        "region": { "description": "Region of the source.", "type": ["string", "null"], "examples": ["us-central1"] },
        "channel": { "description": "Ignored.", "type": ["string", "null"], "examples": [null] },
        "serviceAccount": { "description": "Ignored.", "type": ["string", "null"], "examples": [null] }
      }
    },
\#(runTriggers)
    "indirect": {
      "description": "A parameter expression, or null for the host's default.",
      "type": ["string", "null"],
      "pattern": "^\\{\\{.*\\}\\}$",
      "expectation": "a parameter expression such as \"{{ params.NAME }}\""
    }
  }
}
"""#
}
