/// How long keys are used and how often they are asked for. All of it in seconds.
public struct KeyTimes: Sendable, Equatable {
    /// How long keys hold whose answer does not say.
    public var maxAgeDefault = 3600
    /// Answers that say less are kept so long all the same.
    public var maxAgeFloor = 10
    /// Answers that say more are asked for again after this.
    public var maxAgeCeiling = 86_400
    /// How long keys are used after their time while no newer ones can be had.
    public var staleMax = 86_400
    /// At most so often does an unknown key id make us ask again.
    public var unknownKeyInterval = 30
    /// After a failure we ask again no sooner than this.
    public var retryInterval = 5
    /// How long the content of a file holds.
    public var fileMaxAge = 60

    /// What the host uses.
    public init() {}

    /// The time that an answer's keys hold.
    func lifetime(_ maxAge: Int?) -> Int { min(max(maxAge ?? maxAgeDefault, maxAgeFloor), maxAgeCeiling) }
}
