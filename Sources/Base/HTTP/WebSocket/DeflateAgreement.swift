/// Agreement with a client to compress messages: `permessage-deflate` (RFC 7692 section 7.1).
///
/// Both sides forget a message before the next one: the client is asked to, as it must if the answer says so.
struct DeflateAgreement: Equatable {
    /// The window of the server's messages, as a power of two.
    var windowBits = 15
    /// Whether the client has asked for a window.
    var namesWindowBits = false

    /// The value of `Sec-WebSocket-Extensions` in the answer.
    var answer: String {
        let text = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        return namesWindowBits ? "\(text); server_max_window_bits=\(windowBits)" : text
    }

    init() {}

    /// The agreement on the first offer that can be accepted; nil for none.
    init?(accepting offers: [ExtensionOffer]) {
        for offer in offers {
            if let agreement = DeflateAgreement(offer) {
                self = agreement
                return
            }
        }
        return nil
    }

    /// - Returns: nil for an offer to decline: of another extension, with an invalid, unknown or repeated parameter, or with a window that zlib
    ///   cannot do.
    private init?(_ offer: ExtensionOffer) {
        guard offer.name.lowercased() == "permessage-deflate" else { return nil }
        var names: Set<String> = []
        for parameter in offer.parameters {
            guard names.insert(parameter.name).inserted else { return nil }
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil), ("client_no_context_takeover", nil), ("client_max_window_bits", nil): break
            // An inflater copes with each window.
            case ("client_max_window_bits", let value?): guard Self.windowBits(value) != nil else { return nil }
            case ("server_max_window_bits", let value?):
                guard let bits = Self.windowBits(value), Deflater.windowBits.contains(bits) else { return nil }
                (windowBits, namesWindowBits) = (bits, true)
            default: return nil
            }
        }
    }

    /// A number from 8 to 15 without leading zeros.
    private static func windowBits(_ text: String) -> Int? {
        guard let bits = Int(text), 8...15 ~= bits, text == String(bits) else { return nil }
        return bits
    }
}

/// An element of `Sec-WebSocket-Extensions` (RFC 6455 section 9.1).
struct ExtensionOffer: Equatable {
    struct Parameter: Equatable {
        var name: String
        var value: String?
    }

    var name: String
    var parameters: [Parameter] = []

    /// The elements of a field, or of several that were joined by commas; nil if they are malformed.
    static func parse(_ field: [UInt8]) -> [ExtensionOffer]? {
        var scanner = Scanner(field)
        var offers: [ExtensionOffer] = []
        while true {
            // A list may have empty elements (RFC 9110 section 5.6.1).
            while scanner.take(",") {}
            if scanner.isAtEnd { return offers }
            guard let name = scanner.token() else { return nil }
            var offer = ExtensionOffer(name: name)
            while scanner.take(";") {
                guard let parameter = scanner.parameter() else { return nil }
                offer.parameters.append(parameter)
            }
            offers.append(offer)
            guard scanner.isAtEnd || scanner.take(",") else { return nil }
        }
    }

    private struct Scanner {
        private let bytes: [UInt8]
        private var index = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool {
            mutating get {
                skipBlanks()
                return index == bytes.count
            }
        }

        private mutating func skipBlanks() {
            while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
        }

        mutating func take(_ sign: Unicode.Scalar) -> Bool {
            skipBlanks()
            guard index < bytes.count, bytes[index] == UInt8(ascii: sign) else { return false }
            index += 1
            return true
        }

        mutating func parameter() -> Parameter? {
            guard let name = token() else { return nil }
            guard take("=") else { return Parameter(name: name) }
            skipBlanks()
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return token().map { Parameter(name: name, value: $0) } }
            return quoted().map { Parameter(name: name, value: $0) }
        }

        mutating func token() -> String? {
            skipBlanks()
            let start = index
            while index < bytes.count, Self.isTokenByte(bytes[index]) { index += 1 }
            return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
        }

        /// A text in quotes, which must be a token without them.
        private mutating func quoted() -> String? {
            index += 1
            var text: [UInt8] = []
            while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                if bytes[index] == UInt8(ascii: "\\") { index += 1 }
                guard index < bytes.count, Self.isTokenByte(bytes[index]) else { return nil }
                text.append(bytes[index])
                index += 1
            }
            guard index < bytes.count, !text.isEmpty else { return nil }
            index += 1
            return String(decoding: text, as: UTF8.self)
        }

        private static func isTokenByte(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
    }
}
