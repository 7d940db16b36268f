import HearthBytes
import HTTP
import HearthJSON

/// The common parts of the database's answers (spec database 2.1).
enum RESTAnswer {
    /// Adds the header fields of all answers.
    static func writeFields(
        to fields: ResponseHead, etag: String? = nil, contentType: StaticString = "application/json; charset=utf-8"
    ) {
        fields.field("Content-Type", contentType)
        fields.field("Cache-Control", "no-cache")
        fields.field("Access-Control-Allow-Origin", "*")
        guard let etag else { return }
        fields.field("ETag", Array(etag.utf8).span)
        fields.field("Access-Control-Expose-Headers", "ETag")
    }

    /// Answers with an error.
    static func refuse(_ exchange: HTTPExchange, _ error: RESTError) {
        exchange.respond(error.status, body: body(of: error.message).span) { fields in
            writeFields(to: fields)
            if error.status == .serviceUnavailable { fields.field("Retry-After", 1) }
        }
    }

    /// The body of an error. The spaces are those of the hosted service.
    static func body(of message: String) -> [UInt8] {
        var body = ByteBuffer()
        body.append("{\n  \"error\" : ")
        body.append(jsonString: message)
        body.append("\n}\n")
        return body.array()
    }

    /// Allows pages of other origins to use the database from a browser.
    static func allowPreflight(_ exchange: HTTPExchange) {
        exchange.allowPreflight(
            .ok, methods: "GET, PUT, POST, PATCH, DELETE",
            fieldNames: "Authorization, Content-Type, If-Match, If-None-Match, X-Firebase-AppCheck, X-Firebase-ETag, X-HTTP-Method-Override")
    }

    /// A Content-Disposition field that makes a browser save the answer as a file (RFC 6266): a plain name is unchanged, all others are
    /// percent-encoded.
    static func attachment(named name: String) -> [UInt8] {
        let isPlain = !name.isEmpty && name.utf8.allSatisfy(isUnreserved)
        var text = Array((isPlain ? "attachment; filename=" : "attachment; filename*=UTF-8''").utf8)
        for byte in name.utf8 {
            if isUnreserved(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
            }
        }
        return text
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }
}
