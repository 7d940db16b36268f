/// Where a build is.
public struct BuildProgress: Sendable, Equatable {
    /// The product that is being built.
    public let product: String
    /// Steps done so far; 0 of 0 while the package manager plans or fetches.
    public let step: Int
    /// Steps known of so far, which may grow.
    public let steps: Int
    /// What is being done, as the package manager says it, for example `Compiling Messages Sanitize.swift`.
    public let text: String

    /// Where the build of `product` is.
    public init(product: String, step: Int, steps: Int, text: String) {
        self.product = product
        self.step = step
        self.steps = steps
        self.text = text
    }
}
