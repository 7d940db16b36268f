import AdminProtocol
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import Logs

/// The interface of Cloud Tasks, by which Admin SDKs enqueue, for one loop. Pass it the requests that it claims. It answers each of them.
package final class TaskFrontEnd {
    private let service: TaskService
    private let loop: EventLoop
    private let adminToken: [UInt8]
    /// The callers for whom `Bearer owner` is an administrator's token.
    private let developmentAccess: DevelopmentAccess?
    /// Whether a bearer token is an access token of a service account that may enqueue.
    private let isAccessToken: (Span<UInt8>) -> Bool

    /// A front end for `loop`. All its functions must be called on this loop.
    package init(
        service: TaskService, loop: EventLoop, adminToken: [UInt8], developmentAccess: DevelopmentAccess?,
        isAccessToken: @escaping (Span<UInt8>) -> Bool
    ) {
        self.service = service
        self.loop = loop
        self.adminToken = adminToken
        self.developmentAccess = developmentAccess
        self.isAccessToken = isAccessToken
    }

    /// Whether a request's path belongs to the interface. Functions take precedence: do not ask for the path of a function.
    package func claims(_ exchange: HTTPExchange) -> Bool { TaskPath.claims(exchange.path) && TaskPath(exchange.path) != nil }

    /// The handling of the body of a claimed request. That of a stranger is not read.
    package func head(_ exchange: HTTPExchange) -> BodyPlan {
        .collect(limit: (try? authorize(exchange)) == nil ? Self.strangersBodyBytesMax : TaskRequestReader.bodyBytesMax)
    }

    private static let strangersBodyBytesMax = 64 << 10

    /// Answers a claimed request.
    package func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        do throws(TaskError) {
            guard let path = TaskPath(exchange.path) else { throw .noTask }
            try authorize(exchange)
            try check(path)
            switch (exchange.method, path.task) {
            case (.post, nil): create(exchange, path, try TaskRequestReader.task(body, at: path))
            case (.delete, let id?): delete(exchange, path, id)
            default: throw TaskError(.unimplemented, "Tasks are created by POST and deleted by DELETE.")
            }
        } catch {
            refuse(exchange, error)
        }
    }

    /// The body of an error of the HTTP server itself, for a claimed request.
    package func errorBody(status: HTTPStatus, message: StaticString) -> HTTPErrorBody {
        let error = TaskError(
            .invalidArgument,
            status == .contentTooLarge ? "Request payload size exceeds the limit: \(TaskRequestReader.bodyBytesMax) bytes." : "\(message)")
        return HTTPErrorBody(contentType: "application/json; charset=UTF-8", fields: [], body: error.body.serialized())
    }

    // MARK: Credentials

    private func authorize(_ exchange: HTTPExchange) throws(TaskError) {
        guard let header = exchange.header("authorization"), header.count > 7,
            header.extracting(0..<7).equalsIgnoringCase(lowercase: "bearer ")
        else {
            throw TaskError(.unauthenticated, "Request is missing required authentication credential. Expected OAuth 2 access token.")
        }
        let token = header.extracting(7..<header.count)
        if token.equalsInConstantTime(adminToken) { return }
        if let developmentAccess, token.equals("owner") {
            guard let reason = developmentAccess.refusal(of: exchange) else { return }
            throw TaskError(.unauthenticated, "The token \"owner\" \(reason).")
        }
        guard isAccessToken(token) else {
            throw TaskError(
                .unauthenticated,
                "Request had invalid authentication credentials. Expected the OAuth 2 access token of a service account for everything.")
        }
    }

    private func check(_ path: TaskPath) throws(TaskError) {
        guard path.project == service.project else {
            throw TaskError(
                .permissionDenied, "The principal lacks IAM permission \"cloudtasks.tasks.create\" for the project \(path.project.prefix(100)).")
        }
        switch service.table.find(path.queue) {
        case .unknown: throw .starting
        case .missing: throw TaskError(.notFound, "Queue does not exist: no function \(path.queue.prefix(100)) has a task queue.")
        case .found(let region):
            guard region.isEmpty || region == path.location else {
                throw TaskError(.notFound, "Queue does not exist: the function \(path.queue) is in \(region), not in \(path.location.prefix(100)).")
            }
        }
    }

    // MARK: Operations

    private func create(_ exchange: HTTPExchange, _ path: TaskPath, _ task: NewTask) {
        let answer = LoopBound((self, exchange), loop: loop)
        let (limit, now) = (task.limitMilliseconds ?? 600_000, WallClock.now())
        service.enqueue(task, on: loop) { result in
            let (front, exchange) = answer.value
            switch result {
            case .failure(let error): front.refuse(exchange, error)
            case .success(let enqueued):
                let name = path.name(of: enqueued.id)
                // An emulator's answers have another form.
                if path.isEmulated { return front.answer(exchange, .ok, ["task": ["name": .string("/\(name)")]]) }
                front.answer(
                    exchange, .ok,
                    [
                        "name": .string(name), "scheduleTime": .string(WallClock(unixMilliseconds: enqueued.due).rfc3339),
                        "createTime": .string(now.rfc3339), "dispatchDeadline": .string("\(limit / 1000)s"), "view": "BASIC",
                        "httpRequest": ["httpMethod": "POST"],
                    ])
            }
        }
    }

    private func delete(_ exchange: HTTPExchange, _ path: TaskPath, _ id: String) {
        let answer = LoopBound((self, exchange), loop: loop)
        service.delete(id, of: path.queue, on: loop) { result in
            let (front, exchange) = answer.value
            switch result {
            case .failure(let error): front.refuse(exchange, error)
            case .success: front.answer(exchange, .ok, [:])
            }
        }
    }

    private func answer(_ exchange: HTTPExchange, _ status: HTTPStatus, _ value: JSONValue, retryAfterSeconds: Int? = nil) {
        let body = value.serialized()
        exchange.respond(status, body: body.span) { fields in
            fields.field("Content-Type", "application/json; charset=UTF-8")
            fields.field("Cache-Control", "no-store")
            if let retryAfterSeconds { fields.field("Retry-After", retryAfterSeconds) }
            if status == .unauthorized { fields.field("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\"") }
        }
    }

    private func refuse(_ exchange: HTTPExchange, _ error: TaskError) {
        answer(exchange, HTTPStatus(rawValue: error.code.httpStatus), error.body, retryAfterSeconds: error.retryAfterSeconds)
    }
}
