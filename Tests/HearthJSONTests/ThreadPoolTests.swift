import Foundation
import HearthJSON
import Testing

@Suite struct ThreadPoolTests {
    /// Runs `body` on a new thread, which ends with it.
    private func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: body()) }.start()
        }
    }

    @Test func threadsComeAndGo() async throws {
        for round in 0..<40 {
            let numbers = Array(0...round)
            let back = await onThread { () -> [Int]? in
                guard let text = try? JSONEncoder().encode(numbers) else { return nil }
                return try? JSONDecoder().decode([Int].self, from: text)
            }
            #expect(back == numbers)
        }
    }

    @Test func threadsEndAtOnce() async {
        await withTaskGroup(of: Bool.self) { group in
            for round in 0..<40 {
                group.addTask {
                    await onThread {
                        (0..<20).allSatisfy { _ in (try? JSONValue(parsing: "[\(round),{\"a\":[]}]")) == [.int(Int64(round)), ["a": []]] }
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    /// Decodes and encodes again and again inside of itself.
    private struct Recursive: Codable {
        var depth: Int

        init(depth: Int) { self.depth = depth }

        init(from decoder: any Decoder) throws {
            depth = try decoder.singleValueContainer().decode(Int.self)
            guard depth > 0 else { return }
            let inner = try JSONDecoder().decode([Recursive].self, from: Array("[\(depth - 1)]".utf8))
            #expect(inner.map(\.depth) == [depth - 1])
            #expect(try decoder.singleValueContainer().decode(Int.self) == depth)
        }

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encode(depth)
            guard depth > 0 else { return }
            try list.encode(String(decoding: JSONEncoder().encode(Recursive(depth: depth - 1)), as: UTF8.self))
        }
    }

    @Test func everyLevelHasMemoryOfItsOwn() throws {
        #expect(try JSONDecoder().decode(Recursive.self, from: Array("12".utf8)).depth == 12)
        #expect(try String(decoding: JSONEncoder().encode(Recursive(depth: 2)), as: UTF8.self) == #"[2,"[1,\"[0]\"]"]"#)
    }
}
