import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/** Runs the statements of a SQL file in a Flink of its own, and waits for those that write. */
public class FlinkSql {
    public static void main(String[] arguments) throws Exception {
        var tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        var configuration = tables.getConfig();
        configuration.set("parallelism.default", String.valueOf(Runtime.getRuntime().availableProcessors()));
        // The file sink shows what it wrote at a checkpoint.
        configuration.set("execution.checkpointing.interval", "10 s");
        configuration.set("restart-strategy.type", "disable");
        configuration.set("table.local-time-zone", "UTC");
        for (String statement : Files.readString(Path.of(arguments[0])).split(";\\s*\\n")) {
            if (!statement.isBlank()) {
                var result = tables.executeSql(statement);
                if (result.getJobClient().isPresent()) {
                    result.await();
                }
            }
        }
    }
}
