import Glibc
import HearthFunctions

/// Functions that outstay their time.
enum Waiting {
    struct Milliseconds: Decodable {
        var ms: Int
    }

    /// Ignores cancellation, sleeps, and then answers.
    @Sendable static func returnLate(_ request: CallableRequest<Milliseconds>) async -> String {
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(request.data.ms)
        await Task.detached { try? await clock.sleep(until: end) }.value
        return "late"
    }

    /// Sleeps until it is told to stop, and says in the log that it was.
    @Sendable static func sleepUntilCancelled(_ request: CallableRequest<JSONValue>) async throws -> String {
        do {
            try await Task.sleep(for: .seconds(3600))
        } catch {
            logger.notice("cancelled")
            throw error
        }
        return "not cancelled"
    }
}
