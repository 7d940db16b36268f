/// What holds for every push service.
enum PushLimits {
    /// Requests to one kind of service under way at one time.
    static let requestsMax = 100
}
