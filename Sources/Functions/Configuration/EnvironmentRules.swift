/// Which names environment files may set (spec functions 11.4).
enum EnvironmentRules {
    static let reservedPrefixes = ["X_GOOGLE_", "FIREBASE_", "EXT_", "KIT_"]

    /// Set by the host itself, by the hosted product, or read by the dynamic linker before any code of a worker runs.
    static let reservedNames: Set<String> = [
        "FIREBASE_CONFIG", "CLOUD_RUNTIME_CONFIG", "EVENTARC_CLOUD_EVENT_SOURCE", "ENTRY_POINT", "GCP_PROJECT", "GCLOUD_PROJECT",
        "GOOGLE_CLOUD_PROJECT", "FUNCTION_TRIGGER_TYPE", "FUNCTION_NAME", "FUNCTION_MEMORY_MB", "FUNCTION_TIMEOUT_SEC",
        "FUNCTION_IDENTITY", "FUNCTION_REGION", "FUNCTION_TARGET", "FUNCTION_SIGNATURE_TYPE", "FUNCTIONS_EMULATOR", "K_SERVICE",
        "K_REVISION", "K_CONFIGURATION", "PORT", "TZ", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT",
    ]

    /// A sentence that says why a key may not be set, or nil.
    static func refusal(of key: String) -> String? {
        if reservedNames.contains(key) { return "\(key) is reserved: the host sets it itself" }
        if let prefix = reservedPrefixes.first(where: key.hasPrefix) { return "\(key) is reserved: no key may start with \(prefix)" }
        return nil
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
