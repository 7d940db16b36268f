import EventLoop
import Synchronization

/// Passes frames from the threads on which operations end to the loop of a profiler.
///
/// The size is limited. Frames that do not fit are counted, and reported as lost.
package final class ProfileQueue: Sendable {
    private let loop: EventLoop
    private let bytesMax: Int
    private let arrived: LoopBound<() -> Void>
    private let state = Mutex(State())

    private struct State {
        var frames: [UInt8] = []
        var lost = 0
        /// Whether the loop was notified since it last took frames.
        var hasTold = false
    }

    /// - Parameter arrived: called on `loop` when there are frames.
    package init(loop: EventLoop, bytesMax: Int, arrived: @escaping () -> Void) {
        self.loop = loop
        self.bytesMax = bytesMax
        self.arrived = LoopBound(arrived, loop: loop)
    }

    /// Adds a frame, if there is room. Can be called from any thread.
    func offer(_ frame: [UInt8]) {
        let tells = state.withLock { state in
            if state.frames.count + frame.count <= bytesMax { state.frames += frame } else { state.lost += 1 }
            defer { state.hasTold = true }
            return !state.hasTold
        }
        if tells { loop.post { [arrived] in arrived.value() } }
    }

    /// Takes all frames. If some were lost, the last frame reports their number.
    package func take() -> [UInt8] {
        let taken = state.withLock { state in
            defer { state = State() }
            return state
        }
        return taken.lost == 0 ? taken.frames : taken.frames + Operation.frame(ofLost: taken.lost)
    }
}
