import HearthBytes
import Crypto
import HTTP
import HearthJSON

/// The instance API, by which Admin SDKs change subscriptions (spec messaging 4.2).
extension MessagingFrontEnd {
    func answerInstance(_ exchange: HTTPExchange, _ route: MessagingRoute, _ body: Span<UInt8>) {
        let project: MessagingProject
        do throws(MessagingError) {
            let caller = try callers.sender(exchange)
            // Paths of this API have no project: it is that of the caller.
            if case .account(_, let own, _) = caller {
                guard let known = service.project(own) else { return refuseInstance(exchange, .forbidden, "PERMISSION_DENIED") }
                project = known
            } else {
                project = service.settings.projects[0]
            }
        } catch {
            guard error.kind == .insufficientScope else { return MessagingAnswer.page(exchange, .unauthorized, "Unauthorized") }
            return refuseInstance(exchange, .forbidden, "PERMISSION_DENIED")
        }
        switch route {
        case .topicBatch(let action):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            changeTopic(exchange, action, project, body)
        case .topicOfToken(let token, let topic):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            subscribe(exchange, token, topic, project)
        case .tokenInfo(let token):
            guard exchange.method == .get || exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "GET") }
            describe(exchange, token, project)
        case .importTokens:
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            importTokens(exchange, project, body)
        default: MessagingAnswer.unknownPath(exchange)
        }
    }

    private func refuseInstance(_ exchange: HTTPExchange, _ status: HTTPStatus, _ code: String) {
        MessagingAnswer.json(exchange, ["error": .string(code)], status: status)
    }

    private func refuseInstance(_ exchange: HTTPExchange, _ error: MessagingError) {
        let (status, name) = ErrorEnvelope.status(error)
        MessagingAnswer.json(exchange, ["error": .string(name)], status: status, retryAfterSeconds: error.retryAfterSeconds)
    }

    private func changeTopic(_ exchange: HTTPExchange, _ action: TopicChange.Action, _ project: MessagingProject, _ body: Span<UInt8>) {
        guard let members = try? Self.object(body), let to = members["to"]?.string, to.hasPrefix(TopicName.prefix),
            let topic = TopicName(Self.withoutPrivate(to)), let list = members["registration_tokens"]?.array,
            (1...MessagingService.registrationsMax).contains(list.count)
        else { return refuseInstance(exchange, .badRequest, "INVALID_ARGUMENT") }
        let tokens = list.compactMap(\.string)
        guard tokens.count == list.count else { return refuseInstance(exchange, .badRequest, "INVALID_ARGUMENT") }
        let change = TopicChange(project: project.id, action: action, topic: topic, registrations: tokens)
        backend.changeTopic(change, on: loop) { [self] result in
            switch result {
            case .success(let outcomes):
                let results = outcomes.map { $0 == .done ? JSONValue.object(JSONObject()) : ["error": .string($0.rawValue)] }
                MessagingAnswer.json(exchange, ["results": .array(results)])
            case .failure(let error): refuseInstance(exchange, error)
            }
        }
    }

    /// Removes the prefix of private topics, to which only their own application could send in former versions of the API.
    private static func withoutPrivate(_ topic: String) -> String {
        let prefix = "\(TopicName.prefix)private/"
        return topic.hasPrefix(prefix) ? TopicName.prefix + topic.dropFirst(prefix.count) : topic
    }

    private func subscribe(_ exchange: HTTPExchange, _ token: String, _ topic: String, _ project: MessagingProject) {
        guard let topic = TopicName(topic) else { return refuseInstance(exchange, .badRequest, "INVALID_ARGUMENT") }
        let change = TopicChange(project: project.id, action: .subscribe, topic: topic, registrations: [token])
        backend.changeTopic(change, on: loop) { [self] result in
            switch result {
            case .success(let outcomes) where outcomes == [.done]: MessagingAnswer.json(exchange, .object(JSONObject()))
            case .success(let outcomes):
                let outcome = outcomes.first ?? .unknown
                refuseInstance(exchange, outcome == .notFound ? .notFound : .badRequest, outcome.rawValue)
            case .failure(let error): refuseInstance(exchange, error)
            }
        }
    }

    private func describe(_ exchange: HTTPExchange, _ token: String, _ project: MessagingProject) {
        let withDetails = QueryParameters(exchange.query)["details"] == "true"
        embedded.ask(on: loop) { [self] (result: Result<JSONValue, MessagingError>) in
            switch result {
            case .success(let value): MessagingAnswer.json(exchange, value)
            case .failure: refuseInstance(exchange, .notFound, "No information found about this instance id.")
            }
        } _: { _, store throws(StoreFailure) in
            guard let device = try store.device(registration: token), device.project == project.id else { return .failure(.unregistered) }
            var info: JSONObject = [
                "application": .string(device.package), "authorizedEntity": .string(project.number), "applicationVersion": "1",
                "platform": .string(device.platform.instanceName),
            ]
            if withDetails {
                var topics = JSONObject()
                for subscription in try store.subscriptions(of: device.id) {
                    topics[subscription.topic] = ["addDate": .string(Timestamp.day(milliseconds: subscription.created))]
                }
                info["rel"] = ["topics": .object(topics)]
                info["connectDate"] = .string(Timestamp.day(milliseconds: device.seen))
                // The network of a device is not known.
                info["connectionType"] = "UNKNOWN"
                info["scope"] = "*"
            }
            return .success(.object(info))
        }
    }

    /// Creates registrations for APNs device tokens.
    private func importTokens(_ exchange: HTTPExchange, _ project: MessagingProject, _ body: Span<UInt8>) {
        guard let members = try? Self.object(body), let application = members["application"]?.string, !application.isEmpty,
            application.utf8.count <= DeviceFields.packageBytesMax,
            let list = members["apns_tokens"]?.array, (1...100).contains(list.count)
        else { return refuseInstance(exchange, .badRequest, "INVALID_ARGUMENT") }
        let environment: JSONValue = members["sandbox"]?.bool == true ? "development" : "production"
        let tokens = list.map { $0.string ?? "" }
        embedded.ask(on: loop) { [self] (result: Result<[JSONValue], MessagingError>) in
            switch result {
            case .success(let results): MessagingAnswer.json(exchange, ["results": .array(results)])
            case .failure(let error): refuseInstance(exchange, error)
            }
        } _: { writer, store throws(StoreFailure) in
            var results: [JSONValue] = []
            for token in tokens {
                let isToken = (32...200).contains(token.utf8.count) && token.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "f") ~= $0 }
                var registration = Registration(project: project.id, platform: .ios, package: application)
                // A device gets the same registration, however often it is imported.
                registration.fid = "c" + Base64URL.text(Array(SHA256.hash(data: Array("\(project.id)/\(application)/\(token)".utf8)))).prefix(21)
                registration.address = ["device_token": .string(token), "environment": environment, "topic": .string(application)]
                guard isToken, case .success(let device) = try writer.register(registration, store) else {
                    results.append(["apns_token": .string(token), "status": "INVALID_ARGUMENT"])
                    continue
                }
                results.append(["apns_token": .string(token), "status": "OK", "registration_token": .string(device.token)])
            }
            return .success(results)
        }
    }
}
