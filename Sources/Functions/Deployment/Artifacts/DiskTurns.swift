/// Keeps what puts libraries into the store apart from what removes them: many may come in at a time, and nobody while some go.
/// Belongs to the home loop.
final class DiskTurns {
    private var comingIn = 0
    private var isSweeping = false
    private var waiting: [(isSweep: Bool, work: (@escaping () -> Void) -> Void)] = []

    /// Runs what brings something in; it calls what it is given once what came is known to be held.
    func comeIn(_ work: @escaping (@escaping () -> Void) -> Void) {
        waiting.append((false, work))
        goOn()
    }

    /// Runs what removes things, alone.
    func sweep(_ work: @escaping (@escaping () -> Void) -> Void) {
        waiting.append((true, work))
        goOn()
    }

    private func goOn() {
        while let next = waiting.first, !isSweeping, !next.isSweep || comingIn == 0 {
            waiting.removeFirst()
            if next.isSweep { isSweeping = true } else { comingIn += 1 }
            next.work { [self] in
                if next.isSweep { isSweeping = false } else { comingIn -= 1 }
                goOn()
            }
        }
    }
}
