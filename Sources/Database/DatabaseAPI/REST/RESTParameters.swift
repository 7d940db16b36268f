import HearthBytes
import Tree

/// The parsed query of a request (spec database 2.3). Unknown parameters are ignored, as in the hosted service.
struct RESTParameters: Equatable {
    /// The form of the answer.
    enum Print { case plain, pretty, silent }

    /// The value of `format`.
    enum Format { case value, export, strict }

    var namespace: String?
    var auth: [UInt8]?
    var accessToken: [UInt8]?
    var authOverride: [UInt8]?
    /// The App Check token.
    var app: [UInt8]?
    var methodOverride: [UInt8]?
    var isShallow = false
    var print = Print.plain
    var format = Format.value
    var callback: String?
    var download: String?
    var timeoutMilliseconds: UInt64?
    var writeSizeLimit: WriteSizeLimit?
    var disablesTriggers = false
    var isDryRun = false
    /// `orderBy`, bounds and limits; nil if there are none.
    var filter: FilterParameters?

    /// Creates parameters without any values.
    init() {}

    /// Parses `query`, the part of the URL after `?`.
    init(_ query: Span<UInt8>) throws(RESTError) {
        self.init()
        try Self.read(query) { (name, value) throws(RESTError) in try take(name, value) }
    }

    /// The first value of a parameter that only the live connection has; nil if there is none.
    static func text(of wanted: StaticString, in query: Span<UInt8>) throws(RESTError) -> String? {
        var found: String?
        try read(query) { (name, value) throws(RESTError) in
            if found == nil, name.equals(wanted) { found = try text(name, value) }
        }
        return found
    }

    private static func read(
        _ query: Span<UInt8>, _ body: (_ name: Span<UInt8>, _ value: Span<UInt8>) throws(RESTError) -> Void
    ) throws(RESTError) {
        var start = 0
        while start < query.count {
            var end = start
            var equals = -1
            while end < query.count, query[end] != UInt8(ascii: "&") {
                if equals < 0, query[end] == UInt8(ascii: "=") { equals = end }
                end += 1
            }
            if end > start {
                let nameEnd = equals < 0 ? end : equals
                let value = equals < 0 ? query.extracting(end..<end) : query.extracting(equals + 1..<end)
                try body(query.extracting(start..<nameEnd), value)
            }
            start = end + 1
        }
    }

    private mutating func take(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(RESTError) {
        if name.equals("ns") {
            namespace = try Self.text(name, value)
        } else if name.equals("auth") {
            auth = try Self.decoded(name, value)
        } else if name.equals("access_token") {
            accessToken = try Self.decoded(name, value)
        } else if name.equals("auth_variable_override") {
            authOverride = try Self.decoded(name, value)
        } else if name.equalsIgnoringCase(lowercase: "x-http-method-override") {
            methodOverride = try Self.decoded(name, value)
        } else if name.equals("print") {
            print = try Self.printing(value)
        } else if name.equals("shallow") {
            isShallow = try Self.flag(name, value)
        } else {
            try takeRare(name, value)
        }
    }

    private mutating func takeRare(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(RESTError) {
        if name.equals("ac") {
            app = try Self.decoded(name, value)
        } else if name.equals("format") {
            format = try Self.format(value)
        } else if name.equals("callback") {
            callback = try Self.callback(name, value)
        } else if name.equals("download") {
            download = try Self.text(name, value)
        } else if name.equals("timeout") {
            let text = try Self.decoded(name, value)
            timeoutMilliseconds = try TimeLimit.milliseconds(text.span)
        } else if name.equals("writeSizeLimit") {
            let text = try Self.text(name, value)
            writeSizeLimit = try WriteSizeLimit(named: text)
        } else if name.equals("disableTriggers") {
            disablesTriggers = try Self.flag(name, value)
        } else if name.equals("dryRun") {
            isDryRun = try Self.flag(name, value)
        } else {
            var filter = filter ?? FilterParameters()
            let isTaken = try filter.take(name, value)
            if isTaken { self.filter = filter }
        }
    }

    // MARK: Values

    static func decoded(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(RESTError) -> [UInt8] {
        guard let bytes = PercentEncoding.decoded(value, plusIsSpace: true) else {
            throw RESTError.badRequest("\(name.string()) is not percent-encoded")
        }
        return bytes
    }

    private static func text(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(RESTError) -> String {
        String(decoding: try decoded(name, value), as: UTF8.self)
    }

    private static func flag(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(RESTError) -> Bool {
        if value.equals("true") { return true }
        if value.equals("false") { return false }
        throw RESTError.badRequest("\(name.string()) must be true or false")
    }

    private static func printing(_ value: Span<UInt8>) throws(RESTError) -> Print {
        if value.equals("pretty") { return .pretty }
        if value.equals("silent") { return .silent }
        throw RESTError.badRequest("print must be pretty or silent")
    }

    private static func format(_ value: Span<UInt8>) throws(RESTError) -> Format {
        if value.equals("export") { return .export }
        if value.equals("strict") { return .strict }
        throw RESTError.badRequest("format must be export")
    }

    /// The name of a function, or of a member of an object. Anything else could be a script of its author.
    private static func callback(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(RESTError) -> String {
        let value = try decoded(name, value)
        let isName = value.allSatisfy { byte in
            byte | 0x20 >= 97 && byte | 0x20 <= 122 || (48...57).contains(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
                || byte == UInt8(ascii: ".")
        }
        guard isName, value.count <= 128, let first = value.first, !(48...57).contains(first), first != UInt8(ascii: ".") else {
            throw RESTError.badRequest("callback must be the name of a function")
        }
        return String(decoding: value, as: UTF8.self)
    }
}
