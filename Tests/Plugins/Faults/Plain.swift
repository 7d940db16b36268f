import HearthFunctions

/// Plain HTTP functions.
enum Plain {
    /// The input, as JSON.
    static func echo(_ request: Request) throws -> Response {
        Response(json: [
            "method": .string(request.method),
            "path": .string(request.path),
            "query": request.query.map { .string($0) } ?? .null,
            "queryItems": .array(request.queryItems.map { [.string($0.name), .string($0.value)] }),
            "headers": .array(request.headers.map { [.string($0.name), .string($0.value)] }),
            "bodySize": .int(Int64(request.body.count)),
            "text": .string(String(decoding: request.body.prefix(1024), as: UTF8.self)),
        ])
    }

    /// Sends chunks: their number and size are `chunks` (default 3) and `bytes` (default 10) of the query.
    @Sendable static func stream(_ request: Request, _ response: ResponseWriter) async throws {
        func number(_ name: String, _ fallback: Int) -> Int {
            request.queryItems.first { $0.name == name }.flatMap { Int($0.value) } ?? fallback
        }
        let chunk = [UInt8](repeating: UInt8(ascii: "c"), count: number("bytes", 10))
        response.start(status: 200, headers: ["content-type": "text/plain", "x-streamed": "yes"])
        for index in 0..<number("chunks", 3) {
            guard await response.write(chunk) else {
                logger.notice("nobody reads", metadata: ["chunk": "\(index)"])
                return
            }
        }
    }

    /// Begins an answer and leaves it at that.
    @Sendable static func neverEnds(_ request: Request, _ response: ResponseWriter) async throws {
        response.start()
        await response.write("begun\n")
        try await Task.sleep(for: .seconds(3600))
    }
}
