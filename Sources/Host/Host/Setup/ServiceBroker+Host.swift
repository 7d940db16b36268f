import Authentication
import Configuration
import EventLoop
import FunctionDispatch
import FunctionServices
import HTTP
import Messaging
import RealtimeDatabase
import TaskQueues

/// The address of the host in the links of functions, which is known when the host listens.
final class LinkBase {
    var url = ""
}

extension ServiceBroker {
    /// Registers the cache of plugins.
    func cache(_ configuration: Configuration, _ loop: EventLoop) -> CacheCalls {
        let cache = CacheCalls(bytesMax: configuration.cache.bytes, valueBytesMax: configuration.cache.valueBytes, loop: loop)
        register(cache)
        return cache
    }

    /// Registers the services of a host.
    ///
    /// - Returns: the address in links, which is set later.
    func registerServices(
        _ configuration: Configuration, database: RealtimeDatabase, messaging: MessagingService, authentication: AuthenticationService,
        tasks: TaskService, memory: MemoryBudget, loop: EventLoop
    ) -> LinkBase {
        register(
            DatabaseService(database: database, onceSeconds: configuration.database.onceSeconds, memory: memory, loop: loop))
        register(MessagingCalls(messaging: messaging, loop: loop))
        register(TaskCalls(tasks, loop: loop))
        let base = LinkBase()
        let operations = AdministratorOperations(service: authentication, loop: loop) { base.url }
        register(AuthenticationCalls(operations, plugins: configuration.identity.plugins, memory: memory, loop: loop))
        return base
    }
}
