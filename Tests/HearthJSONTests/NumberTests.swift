import FuzzSupport
import HearthJSON
import Testing

@Suite struct NumberTests {
    @Test(arguments: [
        (0.0, "0"), (-0.0, "0"), (3.0, "3"), (-3.0, "-3"), (0.1, "0.1"), (-2.5, "-2.5"), (1e21, "1e+21"), (1e20, "100000000000000000000"),
        (123456789012345683968, "123456789012345680000"), (9007199254740992, "9007199254740992"), (9007199254740994, "9007199254740994"),
        (1e-6, "0.000001"), (1e-7, "1e-7"), (1.5e-7, "1.5e-7"), (0.00001234, "0.00001234"), (1.7976931348623157e308, "1.7976931348623157e+308"),
        (.leastNonzeroMagnitude, "5e-324"), (2.2250738585072014e-308, "2.2250738585072014e-308"), (1e300, "1e+300"), (123.456, "123.456"),
        (4.35, "4.35"), (1.0 / 3.0, "0.3333333333333333"), (0.1 + 0.2, "0.30000000000000004"), (1e22, "1e+22"), (-1.5e-10, "-1.5e-10"),
        (1.2345678901234567e19, "12345678901234567000"), (9.5e15, "9500000000000000"), (2251799813685248.5, "2251799813685248.5"),
        (.nan, "null"), (.infinity, "null"), (0.00015, "0.00015"), (100.5, "100.5"),
    ])
    func writesAsJavaScript(_ number: Double, _ expected: String) {
        #expect(JSONValue.double(number).description == expected)
    }

    @Test(arguments: [
        (Float(0.1), "0.1"), (3, "3"), (16_777_216, "16777216"), (3.4028235e38, "3.4028235e+38"),
        (.leastNonzeroMagnitude, "1e-45"), (33_554_432, "33554432"),
    ])
    func writesFloats(_ number: Float, _ expected: String) throws {
        #expect(try String(decoding: JSONEncoder().encode(number), as: UTF8.self) == expected)
    }

    @Test(arguments: [
        "0", "-0", "1", "123456789012345", "1234567890123456", "9007199254740993", "1.5", "0.1", "3.141592653589793", "1e22", "1e23",
        "123456789012345678", "9007199254740992e22", "9007199254740993e22", "0.000000000000000000000000000001", "1e-22", "1e-23", "8.5e-5",
        "179769313486231570000e288", "2.2250738585072011e-308", "4.9e-324", "2.4e-324", "1.00000000000000000000000000000000001e5",
        "0.30000000000000004441", "100000000000000000000000000000000000000", "7e00010", "1e-99999", "0e99999", "-0.0", "-0e5",
    ])
    func readsNearestDouble(_ text: String) throws {
        let expected = try #require(Double(text))
        let read = try JSONDecoder().decode(Double.self, from: Array(text.utf8))
        #expect(read.bitPattern == expected.bitPattern)
    }

    @Test func doublesSurviveTheRoundTrip() throws {
        var random = SeededRandom(seed: 20)
        for _ in 0..<20_000 {
            let number = Double(bitPattern: random.next())
            guard number.isFinite else { continue }
            let text = try JSONEncoder().encode(number)
            let back = try JSONDecoder().decode(Double.self, from: text)
            #expect(back == number, "\(number) became \(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test func shortDecimalsAreReadExactly() throws {
        var random = SeededRandom(seed: 21)
        for _ in 0..<20_000 {
            let digits = random.below(1_000_000_000_000_000_000) >> random.below(60)
            let exponent = random.below(60) - 30
            let text = "\(digits).\(random.below(10_000))e\(exponent)"
            #expect(try JSONDecoder().decode(Double.self, from: Array(text.utf8)) == Double(text))
            guard let float = Float(text), float.isFinite else { continue }
            #expect(try JSONDecoder().decode(Float.self, from: Array(text.utf8)) == float)
        }
    }

    @Test(arguments: [Int64.min, -9_007_199_254_740_993, -1, 0, 7, 10, 99, 100, 12_345, Int64.max])
    func integersAreExact(_ number: Int64) throws {
        #expect(JSONValue.int(number).description == String(number))
        #expect(try JSONValue(parsing: String(number)) == .int(number))
        #expect(try JSONDecoder().decode(Int64.self, from: Array(String(number).utf8)) == number)
    }

    @Test func everyLengthOfIntegerIsWritten() {
        var number: UInt64 = 1
        for _ in 0..<20 {
            for value in [number - 1, number, number + 1] { #expect(JSONValue(value).description == String(value)) }
            number = number &* 10
        }
        #expect(JSONValue(UInt64.max).description == "18446744073709551615")
    }

    @Test(arguments: [
        ("9223372036854775807", "int"), ("9223372036854775808", "uint"), ("18446744073709551615", "uint"), ("18446744073709551616", "double"),
        ("-9223372036854775808", "int"), ("-9223372036854775809", "double"), ("3.0", "double"), ("0", "int"), ("-0", "double"),
    ])
    func numbersChooseTheirCase(_ text: String, _ expected: String) throws {
        let name =
            switch try JSONValue(parsing: text) {
            case .int: "int"
            case .uint: "uint"
            case .double: "double"
            default: "none"
            }
        #expect(name == expected)
    }

    @Test func negativeZeroStays() throws {
        #expect(try JSONValue(parsing: "-0").double?.sign == .minus)
        #expect(try JSONDecoder().decode(Double.self, from: Array("-0".utf8)).sign == .minus)
    }
}
