import Testing

@testable import HTTP

/// The negotiation of RFC 7692 section 7.1.
@Suite struct DeflateAgreementTests {
    /// The answer to a field; "none" without an agreement, "malformed" for a field that breaks the grammar.
    private func answer(_ field: String) -> String {
        guard let offers = ExtensionOffer.parse(Array(field.utf8)) else { return "malformed" }
        guard let agreement = DeflateAgreement(accepting: offers) else { return "none" }
        let start = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        return agreement.answer.hasPrefix(start) ? String(agreement.answer.dropFirst(start.count)) : agreement.answer
    }

    @Test(arguments: [
        "permessage-deflate", "PerMessage-Deflate", "permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits=8",
        "permessage-deflate; client_max_window_bits=\"15\"", "permessage-deflate ;server_no_context_takeover ; client_no_context_takeover",
        ", permessage-deflate,", "x-webkit-deflate-frame, permessage-deflate", "mux; max-channels=4; flow-control, permessage-deflate",
        "permessage-deflate; unknown, permessage-deflate",
    ])
    func accepted(_ field: String) { #expect(answer(field) == "") }

    @Test(arguments: [9, 12, 15])
    func windows(bits: Int) {
        #expect(answer("permessage-deflate; server_max_window_bits=\(bits)") == "; server_max_window_bits=\(bits)")
        #expect(answer("permessage-deflate; server_max_window_bits=\"\(bits)\"; client_max_window_bits") == "; server_max_window_bits=\(bits)")
    }

    @Test(arguments: [
        "", ",", "permessage-bzip2", "permessage-deflate; unknown", "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; client_no_context_takeover=true", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=09", "permessage-deflate; server_max_window_bits=+9",
        "permessage-deflate; client_max_window_bits=16", "permessage-deflate; client_max_window_bits=x",
        "permessage-deflate; client_max_window_bits; client_max_window_bits",
        "permessage-deflate; server_max_window_bits=10; server_max_window_bits=10",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        // A window that zlib does not have.
        "permessage-deflate; server_max_window_bits=8",
    ])
    func declined(_ field: String) { #expect(answer(field) == "none") }

    @Test func theFirstAcceptableOfferCounts() {
        #expect(answer("permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=10, permessage-deflate")
            == "; server_max_window_bits=10")
    }

    @Test(arguments: [
        "permessage-deflate;", "; a", "=", "a b", "a; b=", "a; b=\"\"", "a; b=\"c", "a; b=\"c d\"", "a; b=\"c\" d", "a; b=c d", "\"a\"", "a/b", "ä",
    ])
    func malformed(_ field: String) { #expect(answer(field) == "malformed") }
}
