import Testing

@testable import HTTP

@Suite struct TextAndMaskTests {
    private func isValid(_ pieces: [[UInt8]]) -> Bool {
        var check = UTF8Check()
        for piece in pieces {
            guard piece.withUnsafeBytes({ check.take($0) }) else { return false }
        }
        return check.isComplete
    }

    @Test func everySequenceOfTwoBytes() {
        for first in 0...UInt8.max {
            for second in 0...UInt8.max {
                let bytes = [first, second]
                #expect(isValid([bytes]) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
            }
        }
    }

    @Test func longerSequencesAtTheirBounds() {
        let firsts: [UInt8] = [0x41, 0x7F, 0x80, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
        let others: [UInt8] = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xF0]
        for first in firsts {
            for second in others {
                for third in others {
                    for fourth in others {
                        let bytes = [first, second, third, fourth]
                        let expected = String(validating: bytes, as: UTF8.self) != nil
                        let padding = Array(repeating: UInt8(ascii: "a"), count: 31)
                        #expect(isValid([bytes]) == expected, "\(bytes)")
                        #expect(isValid([padding + bytes + padding]) == expected, "\(bytes)")
                    }
                }
            }
        }
    }

    @Test func textsMayBeCutAnywhere() {
        let text = Array("The price: 5 €, π ≈ 3.14159, 𝄞, and a long tail of plain letters".utf8)
        for cut in text.indices { #expect(isValid([Array(text[..<cut]), Array(text[cut...])]), "\(cut)") }
        #expect(!isValid([Array("€".utf8.dropLast())]))
    }

    @Test func masksOfEveryLengthAndAlignment() {
        let mask: [UInt8] = [0x01, 0x20, 0xC3, 0xF4]
        let data = (0..<100).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let expected = data.enumerated().map { $0.element ^ mask[$0.offset & 3] }
        for first in 0..<40 {
            for second in first..<60 {
                var frameMask = FrameMask(mask[0], mask[1], mask[2], mask[3])
                var result = [UInt8](repeating: 0, count: data.count)
                for range in [0..<first, first..<second, second..<data.count] {
                    data[range].withUnsafeBufferPointer { source in
                        result.withUnsafeMutableBytes { frameMask.apply(to: source, into: $0.baseAddress! + range.lowerBound) }
                    }
                }
                #expect(result == expected, "\(first) \(second)")
            }
        }
    }
}
