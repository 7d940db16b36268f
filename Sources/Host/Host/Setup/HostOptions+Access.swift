import Configuration
import EventLoop
import HTTP

extension HostOptions {
    /// The requests in which `owner` and unsigned tokens are accepted; nil in production mode.
    func developmentAccess(for configuration: Configuration) -> DevelopmentAccess? {
        guard configuration.mode == .development else { return nil }
        return developmentAccess ?? (isReachedByOthers(configuration) ? .off : .loopback)
    }

    /// A warning for a host in development mode that other machines reach; nil if none do.
    func warning(for configuration: Configuration) -> String? {
        guard let access = developmentAccess(for: configuration), isReachedByOthers(configuration) else { return nil }
        let consequence =
            switch access {
            case .off:
                "\"owner\" and unsigned tokens are refused; --development-tokens loopback accepts them from this machine, network from all"
            case .loopback: "\"owner\" and unsigned tokens are accepted from this machine only"
            case .network: "\"owner\" and unsigned tokens are accepted from all: everybody who reaches this port can do everything, and run code here"
            }
        return "development mode, and other machines reach this host: \(consequence); --mode production is for hosts that others reach"
    }

    private func isReachedByOthers(_ configuration: Configuration) -> Bool {
        let inherited = (takeover?.sockets ?? sockets).map(\.host)
        let hosts = inherited.isEmpty ? [host ?? configuration.server.host] : inherited
        return !hosts.allSatisfy { LoopbackName.matches($0) }
    }
}
