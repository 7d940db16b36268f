/// The valid combinations of memory, processors and concurrency (spec functions 9).
enum ResourceRules {
    /// A violated rule: the option and a message.
    struct Violation: Equatable {
        var option: String
        var message: String
    }

    /// The processors of a function without `cpu`.
    static func processors(memoryBytes: Int) -> Double {
        switch memoryBytes / MemoryAmount.mebibyte {
        case ...2048: 1
        case ...8192: 2
        case ...16384: 4
        default: 8
        }
    }

    /// The processors that the first generation assigned to an amount of memory.
    static func firstGenerationProcessors(memoryBytes: Int) -> Double {
        switch memoryBytes / MemoryAmount.mebibyte {
        case ...128: 1.0 / 12
        case ...256: 1.0 / 6
        case ...512: 1.0 / 3
        case ...1024: 0.5833
        case ...2048: 1
        case ...8192: 2
        default: 4
        }
    }

    static func violations(memoryBytes: Int, cpu: ProcessorShare?, concurrency: Int?, generation: Int) -> [Violation] {
        var violations: [Violation] = []
        if generation == 1 {
            if cpu != nil {
                violations.append(Violation(option: "cpu", message: "a function of the first generation takes no cpu"))
            }
            if let concurrency, concurrency != 1 {
                let message = "expected 1, since a function of the first generation runs one call at a time; found \(concurrency)"
                violations.append(Violation(option: "concurrency", message: message))
            }
            return violations
        }
        let share: Double
        switch cpu {
        case .processors(let processors):
            share = processors
            violations += processorViolations(processors, memoryBytes)
        case .firstGeneration: share = firstGenerationProcessors(memoryBytes: memoryBytes)
        case nil: share = processors(memoryBytes: memoryBytes)
        }
        if let concurrency, concurrency > 1, share < 1 {
            let message = "expected 1, since cpu is below 1; found \(concurrency)"
            violations.append(Violation(option: "concurrency", message: message))
        }
        return violations
    }

    private static func processorViolations(_ processors: Double, _ memoryBytes: Int) -> [Violation] {
        let memory = MemoryAmount.text(memoryBytes)
        let mebibytes = memoryBytes / MemoryAmount.mebibyte
        let least = mebibytes > 1024 ? 1 : mebibytes > 512 ? 0.5 : 0.08
        if processors < least {
            let message = "expected at least \(least.plain) with \(memory) of memory, found \(processors.plain)"
            return [Violation(option: "cpu", message: message)]
        }
        let needed: [Double: Int] = [4: 2048, 6: 3072, 8: 4096]
        if let least = needed[processors], mebibytes < least {
            let found = "\(processors.plain) processors need at least \(MemoryAmount.text(least * MemoryAmount.mebibyte)) of memory"
            return [Violation(option: "cpu", message: "\(found), found \(memory)")]
        }
        return []
    }
}

/// Rules for labels beyond the pattern of the schema.
enum LabelRules {
    static let countMax = 58

    /// The reason why a label is refused; nil if it is valid.
    static func refusal(of key: String, _ value: String) -> String? {
        if let prefix = ["deployment", "firebase"].first(where: key.hasPrefix) { return "labels that start with \(prefix.quoted) are reserved" }
        guard (key + value).unicodeScalars.allSatisfy(isAllowed) else { return "expected lower-case letters, digits, _ and - in a label" }
        return nil
    }

    /// The schema's pattern has checked ASCII characters.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return true }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .decimalNumber, .letterNumber, .otherNumber: return true
        default: return false
        }
    }
}

/// The variables that environment files may set (spec functions 11.4).
enum EnvironmentRules {
    static let reservedPrefixes = ["X_GOOGLE_", "FIREBASE_", "EXT_", "KIT_"]

    /// Names that the host or the hosted product sets, or that the dynamic linker reads before a worker's code runs.
    static let reservedNames: Set<String> = [
        "FIREBASE_CONFIG", "CLOUD_RUNTIME_CONFIG", "EVENTARC_CLOUD_EVENT_SOURCE", "ENTRY_POINT", "GCP_PROJECT", "GCLOUD_PROJECT",
        "GOOGLE_CLOUD_PROJECT", "FUNCTION_TRIGGER_TYPE", "FUNCTION_NAME", "FUNCTION_MEMORY_MB", "FUNCTION_TIMEOUT_SEC",
        "FUNCTION_IDENTITY", "FUNCTION_REGION", "FUNCTION_TARGET", "FUNCTION_SIGNATURE_TYPE", "FUNCTIONS_EMULATOR", "K_SERVICE",
        "K_REVISION", "K_CONFIGURATION", "PORT", "TZ", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT",
    ]

    /// The reason why a key may not be set; nil if it may.
    static func refusal(of key: String) -> String? {
        if reservedNames.contains(key) { return "\(key) is reserved: the host sets it itself" }
        if let prefix = reservedPrefixes.first(where: key.hasPrefix) { return "\(key) is reserved: no key may start with \(prefix)" }
        return nil
    }

    /// The reason why a variable may not have a value; nil if it may.
    static func refusal(ofValue value: String) -> String? {
        value.utf8.contains(0) ? "the value has a zero byte, with which a variable would end" : nil
    }

    /// `^[A-Z_][A-Z0-9_]*$`
    static func isKey(_ text: String) -> Bool {
        guard let first = text.utf8.first, !isDigit(first) else { return false }
        return text.utf8.allSatisfy { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "_") || isDigit(byte)
        }
    }

    /// `^[A-Za-z0-9_-]+$`
    static func isSecretName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
                || isDigit(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
