extension Schema {
    /// The definitions of triggers whose runs are repeated: schedules and task queues.
    static let runTriggers = #"""
    "scheduleTrigger": {
      "description": "The due times of the function.",
      "type": "object",
      "required": ["schedule"],
      "additionalProperties": false,
      "properties": {
        "schedule": {
          "description": "Unix-cron, or the syntax of App Engine.",
          "type": "string",
          "minLength": 1,
          "maxLength": 500,
          "examples": ["0 9 * * mon-fri"]
        },
        "timeZone": {
          "description": "The time zone. Default: UTC, for the first generation America/Los_Angeles.",
          "type": ["string", "null"],
          "minLength": 1,
          "examples": ["Europe/Berlin"]
        },
        "retryConfig": {
          "description": "How a failed run is repeated.",
          "type": ["object", "null"],
          "additionalProperties": false,
          "properties": {
            "retryCount": {
              "description": "The most repetitions.", "type": ["integer", "null"], "minimum": 0, "maximum": 5, "default": 0, "examples": [3]
            },
            "maxRetrySeconds": {
              "description": "How long a run is repeated, even beyond `retryCount`; 0 for as long as `retryCount` lasts.",
              "type": ["number", "null"], "minimum": 0, "maximum": 2592000, "default": 0, "examples": [600]
            },
            "minBackoffSeconds": {
              "description": "The time before the first repetition.",
              "type": ["number", "null"], "minimum": 0, "maximum": 86400, "default": 5, "examples": [10]
            },
            "maxBackoffSeconds": {
              "description": "The longest time before a repetition.",
              "type": ["number", "null"], "minimum": 0, "maximum": 86400, "default": 3600, "examples": [300]
            },
            "maxDoublings": {
              "description": "How often the time doubles before it grows by equal steps.",
              "type": ["integer", "null"], "minimum": 0, "maximum": 16, "default": 5, "examples": [3]
            }
          },
          "default": {},
          "examples": [{ "retryCount": 3, "maxDoublings": 3 }]
        }
      }
    },
    "taskQueueTrigger": {
      "description": "The retries and the rate of a queue.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "retryConfig": {
          "description": "How a failed task is repeated.",
          "type": ["object", "null"],
          "additionalProperties": false,
          "properties": {
            "maxAttempts": {
              "description": "The most attempts, with the first; -1 for as many as needed.",
              "type": ["integer", "null"], "minimum": -1, "maximum": 1000000, "default": 3, "examples": [5]
            },
            "maxRetrySeconds": {
              "description": "How long a task is repeated, even beyond `maxAttempts`; 0 for as long as `maxAttempts` lasts.",
              "type": ["number", "null"], "minimum": 0, "maximum": 2592000, "default": 0, "examples": [600]
            },
            "minBackoffSeconds": {
              "description": "The time before the first repetition.",
              "type": ["number", "null"], "minimum": 0, "maximum": 86400, "default": 0.1, "examples": [10]
            },
            "maxBackoffSeconds": {
              "description": "The longest time before a repetition.",
              "type": ["number", "null"], "minimum": 0, "maximum": 86400, "default": 3600, "examples": [300]
            },
            "maxDoublings": {
              "description": "How often the time doubles before it grows by equal steps.",
              "type": ["integer", "null"], "minimum": 0, "maximum": 16, "default": 16, "examples": [3]
            }
          },
          "default": {},
          "examples": [{ "maxAttempts": 5, "minBackoffSeconds": 10 }]
        },
        "rateLimits": {
          "description": "How fast tasks are begun.",
          "type": ["object", "null"],
          "additionalProperties": false,
          "properties": {
            "maxConcurrentDispatches": {
              "description": "The most tasks that run at the same time.",
              "type": ["integer", "null"], "minimum": 1, "maximum": 5000, "default": 1000, "examples": [6]
            },
            "maxDispatchesPerSecond": {
              "description": "The most attempts that begin in a second.",
              "type": ["number", "null"], "minimum": 0.001, "maximum": 500, "default": 500, "examples": [5]
            }
          },
          "default": {},
          "examples": [{ "maxDispatchesPerSecond": 5 }]
        },
        "invoker": { "description": "Ignored: only administrators enqueue.", "type": ["string", "array", "null"], "examples": ["private"] }
      }
    },
"""#
}
