import EventLoop
import Synchronization
import Testing
import Tree

@testable import RealtimeDatabase

extension EngineRun {
    /// The names of namespaces that have threads and files.
    var awake: [String] { database.state.withLock { (Array($0.namespaces.keys) + $0.closing.map(\.name)).sorted() } }

    /// The names of namespaces that are given out, and not being closed.
    var given: [String] { database.state.withLock { $0.namespaces.keys.sorted() } }

    /// Waits until every open namespace has nothing left to do.
    func becomeQuiet() async throws {
        while !database.state.withLock({ $0.namespaces.values.allSatisfy(\.isQuiet) }) { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Closes what is idle, again and again, until nothing but `names` is left.
    func rest(until names: [String] = []) async throws {
        while awake != names {
            database.closeIdle(on: loop)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Goes through it a few times, with time for everything to become quiet.
    func tryToRest() async throws {
        for _ in 0..<60 {
            database.closeIdle(on: loop)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Writes to a namespace of this name.
    @discardableResult
    func put(_ path: String, _ json: String, in name: String, on loop: EventLoop? = nil) async throws -> WriteOutcome {
        let request = try WriteRequest.put(path, json)
        return try await ask(name, on: loop) { namespace, loop, done in namespace.write(request, on: loop, completion: done) }
    }

    /// The JSON at a path of a namespace.
    func json(_ path: String = "/", in name: String, on loop: EventLoop? = nil) async throws -> String {
        let request = ReadRequest(try Path(parsing: path), principal: .admin)
        let outcome: ReadOutcome = try await ask(name, on: loop) { namespace, loop, done in namespace.read(request, on: loop, completion: done) }
        return outcome.json
    }

    /// Asks as requests do: who asks holds the namespace for no longer than the question takes.
    private func ask<Answer: Sendable>(
        _ name: String, on loop: EventLoop?, _ body: @escaping @Sendable (Namespace, EventLoop, @escaping (Answer) -> Void) -> Void
    ) async throws -> Answer {
        let loop = loop ?? self.loop
        let result: Result<Answer, DatabaseError> = await withCheckedContinuation { continuation in
            loop.post { [database] in
                do throws(DatabaseError) {
                    body(try database.namespace(name), loop) { continuation.resume(returning: .success($0)) }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
