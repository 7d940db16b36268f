import Administration
import AdminProtocol
import EventLoop
import HearthBytes
import HTTP
import Metrics

/// The page `/_/metrics` on each loop. Open to programs on this machine, and to clients with the admin token.
struct MetricsPage {
    private let loop: EventLoop
    private let gatherer: LoopBound<MetricsGatherer>
    private let home: EventLoop
    private let proxies: TrustedProxies

    init(loop: EventLoop, gatherer: MetricsGatherer, home: EventLoop, proxies: TrustedProxies) {
        self.loop = loop
        self.proxies = proxies
        self.home = home
        self.gatherer = LoopBound(gatherer, loop: home)
    }

    /// Answers a request.
    func answer(_ exchange: HTTPExchange, isAdministrator: Bool) {
        guard isAdministrator || isLocal(exchange) else { return AdminAnswer.refuse(exchange, .unauthenticated) }
        guard exchange.method == .get || exchange.method == .head else {
            return AdminAnswer.refuse(
                exchange, AdminError(.unimplemented, "\(exchange.method) is not used here; use GET", status: 405))
        }
        let reference = LoopBound(exchange, loop: loop)
        home.post { [loop, gatherer] in
            gatherer.value.gather { set in
                loop.post {
                    let text = set.prometheusText()
                    reference.value.respond(.ok, body: text.span) { fields in
                        fields.field("Content-Type", MetricSet.prometheusContentType)
                        fields.field("Cache-Control", "no-store")
                    }
                }
            }
        }
    }

    /// Whether a request comes from this machine, and was not forwarded by a proxy that runs here.
    private func isLocal(_ exchange: HTTPExchange) -> Bool {
        proxies.client(of: exchange)?.isLoopback == true && !exchange.mayBeOfForeignPage
    }
}
