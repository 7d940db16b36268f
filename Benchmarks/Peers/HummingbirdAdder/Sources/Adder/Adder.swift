import Hummingbird
import Logging

struct Call: Decodable {
    struct Numbers: Decodable {
        var firstNumber: Double
        var secondNumber: Double
    }
    var data: Numbers
}

struct Answer: ResponseEncodable {
    struct Sum: Encodable {
        var firstNumber: Double
        var secondNumber: Double
        var `operator` = "+"
        var operationResult: Double
    }
    var result: Sum
}

/// The peer of `addNumbers`: the same typed decode and encode, with no worker and no gate in front of it.
@main
struct Adder {
    static func main() async throws {
        let router = Router()
        router.post("/addNumbers") { request, context in
            let numbers = try await request.decode(as: Call.self, context: context).data
            return Answer(
                result: .init(
                    firstNumber: numbers.firstNumber, secondNumber: numbers.secondNumber,
                    operationResult: numbers.firstNumber + numbers.secondNumber))
        }
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        var logger = Logger(label: "adder")
        logger.logLevel = .error
        let app = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
        try await app.runService()
    }
}
