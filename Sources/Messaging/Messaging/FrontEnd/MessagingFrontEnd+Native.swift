import HearthBytes
import HTTP
import HearthJSON

/// Hearth's own API for devices and inspection, below `/_messaging/v1/projects/P/` (spec messaging 6.2, 4.3 and 6.8).
extension MessagingFrontEnd {
    func answerNative(_ exchange: HTTPExchange, _ name: String, _ rest: [String], _ body: Span<UInt8>) throws(MessagingError) {
        switch (rest[0], rest.count) {
        case ("devices", 1):
            switch exchange.method {
            case .post: try createDevice(exchange, name, try Self.object(body))
            case .get: listDevices(exchange, try sender(exchange, name))
            default: MessagingAnswer.methodNotAllowed(exchange, allowed: "GET, POST")
            }
        case ("devices", 2) where rest[1].hasSuffix(":uninstall"):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            changeDevice(exchange, try sender(exchange, name), String(rest[1].dropLast(10))) { $0.isUninstalled = true }
        case ("devices", 2): try answerOneDevice(exchange, name, rest[1], body)
        case ("topics", 1) where exchange.method == .get: listTopics(exchange, try sender(exchange, name))
        case ("topics", 3) where rest[2] == "subscribers" && exchange.method == .get:
            guard let topic = TopicName(rest[1]) else { throw .badTopic }
            listSubscribers(exchange, try sender(exchange, name), topic)
        case ("messages", 1) where exchange.method == .get: listMessages(exchange, try sender(exchange, name))
        case ("messages", 2) where exchange.method == .get: showMessage(exchange, try sender(exchange, name), rest[1])
        case ("webPush", 1) where exchange.method == .get: try showWebPushKey(exchange, name)
        case ("credentials", _): try answerCredentials(exchange, name, Array(rest.dropFirst()), body)
        default: MessagingAnswer.unknownPath(exchange)
        }
    }

    /// Answers with the public key for subscriptions in browsers.
    private func showWebPushKey(_ exchange: HTTPExchange, _ name: String) throws(MessagingError) {
        guard service.project(name) != nil else { throw .notPermitted(project: name) }
        guard let key = service.vapidKey else {
            throw MessagingError(.notFound, "This host does not use the push services of browsers; set messaging.webPush in functions.json.")
        }
        MessagingAnswer.json(exchange, ["publicKey": .string(key.publicKey)])
    }

    private func sender(_ exchange: HTTPExchange, _ name: String) throws(MessagingError) -> MessagingProject {
        try project(name, for: try callers.sender(exchange))
    }

    // MARK: Devices

    /// Registers a device. An application needs only its project's public key. A sender may also choose the installation id and the token.
    private func createDevice(_ exchange: HTTPExchange, _ name: String, _ body: JSONObject) throws(MessagingError) {
        let hasKey = (exchange.header("x-goog-api-key")?.count ?? 0) > 0
        let isTrusted = exchange.header("authorization") != nil || !hasKey
        guard let project = isTrusted ? try sender(exchange, name) : service.project(name) else { throw .notPermitted(project: name) }
        guard let platform = (body["platform"]?.string).flatMap({ DevicePlatform(rawValue: $0) }) else {
            throw .field("platform", "must be android, ios or web")
        }
        var registration = Registration(
            project: project.id, platform: platform,
            package: try DeviceFields.package(
                body["package"]?.string ?? body["bundle"]?.string ?? body["origin"]?.string ?? "com.example.app", "package"))
        registration.name = DeviceFields.name(body["name"]?.string ?? "")
        registration.isAnonymous = !isTrusted
        if let fid = body["fid"]?.string {
            guard isTrusted, RegistrationToken.isInstallationID(fid) else {
                throw .field("fid", "must be an installation id, and may be chosen by senders only")
            }
            registration.fid = fid
        }
        if let token = body["token"]?.string {
            guard isTrusted, RegistrationToken.isWellFormed(token) else {
                throw .field("token", "must be a registration token, and may be chosen by senders only")
            }
            registration.token = token
        }
        embedded.ask(on: loop, limitedBy: isTrusted ? nil : proxies.customer(of: exchange)) { (result: Result<Device, MessagingError>) in
            MessagingAnswer.finish(
                exchange,
                result.map { device in
                    var answer = device.json
                    answer["token"] = .string(device.token)
                    answer["connect_url"] = .string("/_messaging/v1/connect")
                    answer["events_url"] = .string("/_messaging/v1/devices/\(device.token)/events")
                    return answer
                })
        } _: { [registration] writer, store throws(StoreFailure) in
            try writer.register(registration, store)
        }
    }

    private func answerOneDevice(_ exchange: HTTPExchange, _ name: String, _ fid: String, _ body: Span<UInt8>) throws(MessagingError) {
        let project = try sender(exchange, name)
        switch exchange.method {
        case .get: changeDevice(exchange, project, fid) { _ in }
        case .patch:
            let members = try Self.object(body)
            let name = members["name"]?.string
            let package = try members["package"]?.string.map { text throws(MessagingError) in try DeviceFields.package(text, "package") }
            changeDevice(exchange, project, fid) { device in
                device.name = name.map { DeviceFields.name($0) } ?? device.name
                device.package = package ?? device.package
            }
        case .delete: unregister(exchange, fid, project, mustExist: true)
        default: MessagingAnswer.methodNotAllowed(exchange, allowed: "GET, PATCH, DELETE")
        }
    }

    private func changeDevice(
        _ exchange: HTTPExchange, _ project: MessagingProject, _ fid: String, _ change: @escaping @Sendable (inout Device) -> Void
    ) {
        embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
        _: { writer, store throws(StoreFailure) in
            switch try writer.change(fid, project: project.id, store, change) {
            case .failure(let error): return .failure(error)
            case .success(let device):
                var answer = device.json
                answer["token"] = .string(device.token)
                answer["connected"] = .bool(writer.links[device.id] != nil)
                answer["pending"] = JSONValue(try store.pendingCount(device.id))
                return .success(answer)
            }
        }
    }

    private func listDevices(_ exchange: HTTPExchange, _ project: MessagingProject) {
        let query = QueryParameters(exchange.query)
        let size = query.number("page_size", "pageSize", bounds: 1...1000, default: 100)
        let start = Int64(query["page_token", "pageToken"] ?? "") ?? 0
        embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
        _: { writer, store throws(StoreFailure) in
            let devices = try store.devices(project: project.id, after: start, limit: size)
            var answer: JSONObject = [
                "devices": .array(
                    devices.map { device in
                        var json = device.json
                        json["token"] = .string(device.token)
                        json["connected"] = .bool(writer.links[device.id] != nil)
                        return json
                    })
            ]
            if devices.count == size, let last = devices.last { answer["next_page_token"] = .string("\(last.id)") }
            return .success(.object(answer))
        }
    }

    // MARK: Topics

    private func listTopics(_ exchange: HTTPExchange, _ project: MessagingProject) {
        let query = QueryParameters(exchange.query)
        let size = query.number("page_size", "pageSize", bounds: 1...1000, default: 1000)
        let start = query["page_token", "pageToken"] ?? ""
        embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
        _: { _, store throws(StoreFailure) in
            let topics = try store.topics(project: project.id, after: start, limit: size)
            var answer: JSONObject = [
                "topics": .array(topics.map { ["name": .string($0.name), "subscriber_count": .int($0.subscribers)] })
            ]
            if topics.count == size, let last = topics.last { answer["next_page_token"] = .string(last.name) }
            return .success(.object(answer))
        }
    }

    private func listSubscribers(_ exchange: HTTPExchange, _ project: MessagingProject, _ topic: TopicName) {
        let query = QueryParameters(exchange.query)
        let size = query.number("page_size", "pageSize", bounds: 1...1000, default: 100)
        let start = Int64(query["page_token", "pageToken"] ?? "") ?? 0
        embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
        _: { _, store throws(StoreFailure) in
            guard let id = try store.topicID(topic.text, project: project.id) else { return .success(["subscribers": []]) }
            let ids = try store.subscribers(id, after: start, limit: size)
            var subscribers: [JSONValue] = []
            for id in ids { if let device = try store.device(id: id) { subscribers.append(device.json) } }
            var answer: JSONObject = ["subscribers": .array(subscribers)]
            if ids.count == size, let last = ids.last { answer["next_page_token"] = .string("\(last)") }
            return .success(.object(answer))
        }
    }
}
