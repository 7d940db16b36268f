import HearthJSON

/// A violation of a rule. The message of the first violation becomes the message of the whole answer.
struct RuleViolation {
    let message: String
    let violation: MessagingError.Violation
}

/// The rules for fields (spec messaging 1.3 to 1.9). All violations are collected, in the order data, notification, android,
/// webpush, apns, options.
struct MessageRules {
    let message: Message
    let reservedKeys: MessageParser.ReservedKeys
    private(set) var found: [RuleViolation] = []

    init(_ message: Message, reservedKeys: MessageParser.ReservedKeys) {
        self.message = message
        self.reservedKeys = reservedKeys
    }

    /// All violations.
    func violations() -> [RuleViolation] {
        var rules = self
        rules.checkKeys(message.fields["data"]?.object, "message.data")
        rules.checkURL(message.fields["notification"]?["image"], "message.notification.image")
        rules.checkAndroid()
        rules.checkWebpush()
        rules.checkApns()
        rules.checkLabel(message.fields["fcm_options"], "message.fcm_options")
        return rules.found
    }

    // MARK: Checks of several parts

    /// Records a violation.
    mutating func fail(_ path: String, _ description: String, message: String = MessagingError.bareMessage) {
        found.append(RuleViolation(message: message, violation: .init(field: path, description: description)))
    }

    mutating func checkKeys(_ data: JSONObject?, _ path: String) {
        guard let data else { return }
        for (key, _) in data where isReserved(key) {
            let text = "Invalid data payload key: \(key)"
            fail(path, text, message: text)
        }
    }

    /// Whether data must not have this key (spec messaging 1.9). The hosted service accepts `notification`, unlike its documentation
    /// (beste/firebase-php#588).
    private func isReserved(_ key: String) -> Bool {
        guard !key.isEmpty else { return true }
        let key = key.lowercased()
        if key == "from" || key == "message_type" { return true }
        return switch reservedKeys {
        case .strict: key.hasPrefix("google") || key.hasPrefix("gcm")
        case .wire: key.hasPrefix("google.") || key.hasPrefix("gcm.")
        }
    }

    mutating func checkURL(_ value: JSONValue?, _ path: String, httpsOnly: Bool = false) {
        guard let text = value?.string else { return }
        let lowered = text.lowercased()
        let isHTTP = !httpsOnly && lowered.hasPrefix("http://") || lowered.hasPrefix("https://")
        let rest = text.drop { $0 != ":" }.dropFirst(3)
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let isClean = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard !isHTTP || host.isEmpty || !isClean else { return }
        fail(path, httpsOnly ? "must be an https URL" : "must be an http or https URL")
    }

    /// Checks that a label matches `^[a-zA-Z0-9-_.~%]{1,50}$`.
    mutating func checkLabel(_ options: JSONValue?, _ path: String) {
        guard let label = options?["analytics_label"]?.string else { return }
        guard label.utf8.count > 50 || !label.utf8.allSatisfy(TopicName.isAllowed) else { return }
        fail("\(path).analytics_label", "must be 1 to 50 of the characters a-z, A-Z, 0-9 and -_.~%")
    }
}
