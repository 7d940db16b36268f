/// Calls once when several things have happened. Belongs to one loop.
package final class Countdown {
    private var left: Int
    private let completion: () -> Void

    package init(_ count: Int, completion: @escaping () -> Void) {
        left = count
        self.completion = completion
        if count == 0 { completion() }
    }

    package func hit() {
        left -= 1
        if left == 0 { completion() }
    }
}
