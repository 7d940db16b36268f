/// Why an expression is refused, and at which byte of its text.
struct ExpressionError: Error {
    var text: String
    var index: Int

    init(_ text: String, at index: Int) {
        self.text = text
        self.index = index
    }
}
