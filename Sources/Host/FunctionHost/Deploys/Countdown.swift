/// Calls once when several things have happened. Belongs to one loop.
final class Countdown {
    private var left: Int
    private let completion: () -> Void

    init(_ count: Int, completion: @escaping () -> Void) {
        left = count
        self.completion = completion
        if count == 0 { completion() }
    }

    func hit() {
        left -= 1
        if left == 0 { completion() }
    }
}
