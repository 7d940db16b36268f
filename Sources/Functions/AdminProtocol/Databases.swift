package import HearthJSON

/// The answer to `GET databases`.
package struct DatabaseList: AdminMessage {
    package struct Entry: AdminMessage {
        package var name: String
        /// Whether it is the project's own.
        package var isDefault: Bool

        package init(name: String, isDefault: Bool) {
            self.name = name
            self.isDefault = isDefault
        }
    }

    package var databases: [Entry]

    package init(databases: [Entry]) { self.databases = databases }
}

// MARK: Rules

/// `POST databases/NAME/rules:judge`: a request to simulate.
package struct JudgementRequest: AdminMessage {
    package enum Operation: String, Codable, Sendable, CaseIterable { case read, write, update }

    package var operation: Operation
    package var path: String
    /// The variable `auth` of the rules; nil for a signed-out user.
    package var auth: JSONValue?
    /// The value to write.
    package var data: JSONValue?
    /// The query of a read, as an object.
    package var query: JSONValue?
    /// Other rules than those in force: an object, or the text of a document with comments.
    package var rules: JSONValue?

    package init(operation: Operation, path: String) {
        self.operation = operation
        self.path = path
    }

    /// Reads and checks a request.
    package init(parsing body: JSONValue) throws(AdminError) {
        guard let path = body["path"]?.string else { throw .invalid("path must be a string, for example /users/ada") }
        guard let operation = body["operation"]?.string.flatMap(Operation.init) else {
            throw .invalid("operation must be read, write or update")
        }
        self.init(operation: operation, path: path)
        auth = body["auth"].flatMap { $0.isNull ? JSONValue?.none : $0 }
        data = body["data"]
        query = body["query"]
        rules = body["rules"]
    }
}

/// The answer to `POST databases/NAME/rules:judge`.
package struct JudgementAnswer: AdminMessage {
    /// One evaluated rule.
    package struct Rule: AdminMessage {
        /// Its location in the rules.
        package var rule: String
        /// The path that it was evaluated for.
        package var path: String
        package var expression: String?
        package var line: Int?
        package var column: Int?
        /// `true`, `false` or `error`.
        package var outcome: String
        /// The deciding part; nil for a rule that is true.
        package var reason: String?

        package init(rule: String, path: String, outcome: String) {
            self.rule = rule
            self.path = path
            self.outcome = outcome
        }
    }

    package var operation: String?
    package var path: String?
    package var allowed: Bool
    /// One sentence for a person.
    package var sentence: String?
    package var rules: [Rule]

    package init(allowed: Bool, sentence: String? = nil, rules: [Rule] = []) {
        self.allowed = allowed
        self.sentence = sentence
        self.rules = rules
    }
}

// MARK: Dead letters

/// An event whose function has failed for good.
package struct DeadLetterEntry: AdminMessage {
    package var id: String
    /// The event's own id.
    package var event: String
    package var function: String
    package var type: String
    package var path: String
    package var reason: String
    package var attempts: Int
    package var interruptions: Int
    /// RFC 3339.
    package var time: String
    package var givenUpAt: String
    /// The function's last error.
    package var error: String?
    // The details, which a list leaves out.
    /// The name of the database.
    package var instance: String?
    package var params: JSONObject?
    package var authType: String?
    package var authId: String?
    package var chain: String?
    /// The values before and after.
    package var data: JSONValue?

    package init(
        id: String, event: String, function: String, type: String, path: String, reason: String, attempts: Int, interruptions: Int,
        time: String, givenUpAt: String, error: String?
    ) {
        self.id = id
        self.event = event
        self.function = function
        self.type = type
        self.path = path
        self.reason = reason
        self.attempts = attempts
        self.interruptions = interruptions
        self.time = time
        self.givenUpAt = givenUpAt
        self.error = error
    }
}

/// One page of a list of dead letters.
package struct DeadLetterList: AdminMessage {
    /// In the order in which they became dead letters.
    package var deadLetters: [DeadLetterEntry]
    /// The ids of unreadable ones.
    package var damaged: [String]?
    /// The number that was dropped for newer ones.
    package var dropped: Int?
    /// The start of the next page; nil if there is none.
    package var next: String?

    package init(deadLetters: [DeadLetterEntry], damaged: [String] = [], dropped: Int = 0, next: String? = nil) {
        self.deadLetters = deadLetters
        self.damaged = damaged.isEmpty ? nil : damaged
        self.dropped = dropped > 0 ? dropped : nil
        self.next = next
    }
}

/// `POST databases/NAME/dead-letters:replay` and `:delete`.
package struct DeadLetterSelection: AdminMessage {
    /// The ids; nil for all.
    package var ids: [String]?
    /// Only those of this function.
    package var function: String?

    /// The most ids of one request, and the most entries of one page.
    package static let countMax = 1000

    package init(ids: [String]? = nil, function: String? = nil) {
        self.ids = ids
        self.function = function
    }

    /// Reads and checks a request.
    package init(parsing body: JSONValue) throws(AdminError) {
        if let value = body["ids"] {
            guard let texts = value.array, texts.count <= Self.countMax else {
                throw .invalid("ids must be a list of at most \(Self.countMax) ids")
            }
            ids = texts.map { $0.string ?? "" }
        }
        if let value = body["function"] {
            guard let name = value.string else { throw .invalid("function must be the name of a function") }
            function = name
        }
    }
}
