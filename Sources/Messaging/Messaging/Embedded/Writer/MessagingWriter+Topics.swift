import EventLoop
import SQLite
import Store

extension MessagingWriter {
    func changeTopic(_ change: TopicChange, on loop: EventLoop, _ answer: LoopBound<(Result<[TopicOutcome], MessagingError>) -> Void>) {
        inTurn({ error in loop.post { answer.value(.failure(error)) } }) { store throws(SQLiteError) in
            let now = clock.now
            let limit = settings.quotas.subscriptionsPerSecond
            guard rates.countSubscriptions(change.project, change.registrations.count, limit: limit, now: now) else {
                let error = MessagingError.topicQuota(subject: change.project, retryAfterSeconds: 1)
                return afterCommit(on: loop) { failure in answer.value(.failure(failure ?? error)) }
            }
            var outcomes: [TopicOutcome] = []
            outcomes.reserveCapacity(change.registrations.count)
            for registration in change.registrations { outcomes.append(try self.change(change, registration, store, now)) }
            let result = outcomes
            afterCommit(on: loop) { failure in answer.value(failure.map { .failure($0) } ?? .success(result)) }
        }
    }

    private func change(
        _ change: TopicChange, _ registration: String, _ store: MessagingStore, _ now: Int64
    ) throws(SQLiteError) -> TopicOutcome {
        guard RegistrationToken.isWellFormed(registration) || RegistrationToken.isInstallationID(registration) else { return .invalidArgument }
        guard let device = try store.device(registration: registration), !device.isUninstalled else { return .notFound }
        guard device.project == change.project else { return .permissionDenied }
        try store.confirm(device)
        switch change.action {
        case .subscribe: return try subscribe(device, change.topic, store, now) == nil ? .tooManyTopics : .done
        case .unsubscribe:
            if let topic = try store.topicID(change.topic.text, project: change.project) { _ = try store.unsubscribe(device.id, topic) }
            return .done
        }
    }

    /// - Returns: whether the subscription is new; nil if the device has too many.
    private func subscribe(_ device: Device, _ name: TopicName, _ store: MessagingStore, _ now: Int64) throws(SQLiteError) -> Bool? {
        if let known = try store.topicID(name.text, project: device.project), try store.subscription(device.id, known) != nil { return false }
        guard try store.subscriptionCount(device.id) < settings.topicsPerDeviceMax else { return nil }
        let topic = try store.makeTopic(name.text, project: device.project)
        try store.subscribe(device.id, topic, now: now)
        return true
    }

    /// Subscribes or unsubscribes a device on its own request.
    func setSubscription(
        _ isOn: Bool, _ name: TopicName, _ device: Device, _ store: MessagingStore
    ) throws(SQLiteError) -> Result<Bool, MessagingError> {
        if isOn { return try subscribe(device, name, store, clock.now) == nil ? .failure(.tooManyTopics) : .success(true) }
        if let topic = try store.topicID(name.text, project: device.project) { _ = try store.unsubscribe(device.id, topic) }
        return .success(false)
    }

    // MARK: Single subscriptions

    /// A request for a subscription.
    enum SubscriptionAction: Sendable {
        case create
        case createIfMissing
        case get
        case delete
        case deleteIfMissing
        /// Starts or ends a subscription, whether or not it exists, for client SDKs.
        case set(Bool)
    }

    /// Performs a request. The result is the subscription, or nil if there is none afterwards.
    ///
    /// - Parameter owner: the installation that makes the request; nil for a sender.
    func subscription(
        _ action: SubscriptionAction, _ topic: TopicName, _ registration: String, project: String, owner: String?, _ store: MessagingStore
    ) throws(SQLiteError) -> Result<SubscribedTopic?, MessagingError> {
        guard let device = try store.device(registration: registration), !device.isUninstalled else { return .failure(.unregistered) }
        guard device.project == project else { return .failure(.senderMismatch) }
        if let owner {
            guard try mayChange(device.fid, owner: owner, device, store) else { return .failure(.invalidCredential) }
        } else {
            try store.confirm(device)
        }
        let now = clock.now
        let id = try store.topicID(topic.text, project: project)
        let created: Int64? = if let id { try store.subscription(device.id, id) } else { nil }
        switch action {
        case .create where created != nil: return .failure(MessagingError(.alreadyExists, "Requested entity already exists"))
        case .create, .createIfMissing, .set(true):
            if created == nil, try subscribe(device, topic, store, now) == nil { return .failure(.tooManyTopics) }
            return .success(SubscribedTopic(topic: topic.text, created: created ?? now))
        case .get:
            guard let created else { return .failure(.noSubscription) }
            return .success(SubscribedTopic(topic: topic.text, created: created))
        case .delete where created == nil: return .failure(.noSubscription)
        case .delete, .deleteIfMissing, .set(false):
            if let id { _ = try store.unsubscribe(device.id, id) }
            return .success(nil)
        }
    }

    func subscriptions(
        of registration: String, project: String, on loop: EventLoop,
        _ answer: LoopBound<(Result<[SubscribedTopic], MessagingError>) -> Void>
    ) {
        inTurn({ error in loop.post { answer.value(.failure(error)) } }) { store throws(SQLiteError) in
            let result: Result<[SubscribedTopic], MessagingError>
            if let device = try store.device(registration: registration), !device.isUninstalled {
                result = device.project == project ? .success(try store.subscriptions(of: device.id)) : .failure(.senderMismatch)
            } else {
                result = .failure(.unregistered)
            }
            afterCommit(on: loop) { failure in answer.value(failure.map { .failure($0) } ?? result) }
        }
    }
}

extension MessagingError {
    static let noSubscription = MessagingError(.notFound, "Requested entity was not found.")
    static let tooManyTopics = MessagingError(
        .quotaExceeded(.topic(subject: "subscriptions")), "This registration has the maximal number of topics.")
}
