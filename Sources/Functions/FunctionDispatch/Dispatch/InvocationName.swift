import WorkerProtocol

/// The name of an invocation in logs and answers: 12 letters and digits, as in the Firebase tools.
///
/// It is computed from the worker's random number and the invocation's id, so that no names have to be stored.
struct InvocationName: CustomStringConvertible, Sendable {
    let description: String

    init(workerSeed: UInt64, invocation: InvocationID) {
        // Two rounds of a 64-bit finalizer, so that the names of consecutive ids are not similar.
        var mixed = workerSeed ^ invocation.rawValue &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        let letters: StaticString = "abcdefghijklmnopqrstuvwxyz0123456789"
        var text: [UInt8] = []
        for _ in 0..<12 {
            text.append(letters.utf8Start[Int(mixed % 36)])
            mixed /= 36
        }
        description = String(decoding: text, as: UTF8.self)
    }
}
