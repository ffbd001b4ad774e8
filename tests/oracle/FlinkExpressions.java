import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * What Flink answers to SQL expressions, one a line of standard input: the line, its type and its value, with tabs
 * between them. `cargo xtask flink record` runs it.
 *
 * A line with a FROM of its own gives its first row's first column. SET 'key' = 'value' holds for the lines after it.
 */
public class FlinkExpressions {
    /** Expressions that one job evaluates: a job takes half a second, however little it does. */
    private static final int A_JOB = 40;

    private static final Pattern SET = Pattern.compile("SET '([^']*)' = '([^']*)'");

    private final TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inBatchMode());
    private final PrintStream out;

    private FlinkExpressions(PrintStream out) {
        this.out = out;
        tables.getConfig().set("parallelism.default", "1");
        tables.getConfig().set("table.local-time-zone", "UTC");
    }

    public static void main(String[] arguments) throws Exception {
        var recorder = new FlinkExpressions(new PrintStream(System.out, true, StandardCharsets.UTF_8));
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<Expression> waiting = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher set = SET.matcher(line);
            if (!set.matches()) {
                waiting.add(recorder.planned(line));
            }
            if (set.matches() || waiting.size() == A_JOB) {
                recorder.answer(waiting);
            }
            if (set.matches()) {
                recorder.tables.getConfig().set(set.group(1), set.group(2));
                recorder.out.println(line + "\t\t");
            }
        }
        recorder.answer(waiting);
    }

    private static class Expression {
        String text;
        String type = "-";
        String value;
    }

    private Expression planned(String text) {
        var expression = new Expression();
        expression.text = text;
        try {
            var schema = tables.sqlQuery("SELECT " + text).getResolvedSchema();
            expression.type = schema.getColumnDataTypes().get(0).getLogicalType().asSummaryString();
        } catch (Throwable e) {
            expression.value = error(e);
        }
        return expression;
    }

    private void answer(List<Expression> expressions) {
        var valid = expressions.stream().filter(e -> e.value == null).collect(Collectors.toList());
        evaluate(valid.stream().filter(e -> !hasFrom(e)).collect(Collectors.toList()));
        valid.stream().filter(FlinkExpressions::hasFrom).forEach(e -> evaluate(List.of(e)));
        expressions.forEach(e -> out.println(e.text + "\t" + e.type + "\t" + e.value));
        expressions.clear();
    }

    private static boolean hasFrom(Expression expression) {
        return expression.text.contains(" FROM (");
    }

    /** One job for all; where it fails, one for each half, until it is known which expression fails. */
    private void evaluate(List<Expression> expressions) {
        if (expressions.isEmpty()) {
            return;
        }
        String list = expressions.stream().map(e -> e.text).collect(Collectors.joining(", "));
        try (CloseableIterator<Row> rows = tables.executeSql("SELECT " + list).collect()) {
            Row row = rows.next();
            for (int i = 0; i < expressions.size(); i++) {
                expressions.get(i).value = text(row.getField(i));
            }
        } catch (Throwable e) {
            if (expressions.size() == 1) {
                expressions.get(0).value = error(e);
                return;
            }
            int half = expressions.size() / 2;
            evaluate(expressions.subList(0, half));
            evaluate(expressions.subList(half, expressions.size()));
        }
    }

    private static String error(Throwable e) {
        while (e.getCause() != null) {
            e = e.getCause();
        }
        String message = String.valueOf(e.getMessage()).lines().findFirst().orElse("").replace('\t', ' ');
        return "error: " + e.getClass().getSimpleName() + ": " + message;
    }

    /** A value in a form that has one text for each value, whatever its type prints. */
    private static String text(Object value) {
        if (value == null) {
            return "NULL";
        } else if (value instanceof Boolean) {
            return value.toString().toUpperCase();
        } else if (value instanceof String) {
            String escaped = value.toString().replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n");
            return "'" + escaped.replace("\r", "\\r").replace("\0", "\\0") + "'";
        } else if (value instanceof Double || value instanceof Float) {
            return number(value.toString());
        } else if (value instanceof BigDecimal) {
            return ((BigDecimal) value).toPlainString();
        } else if (value instanceof byte[]) {
            return "x'" + HexFormat.of().formatHex((byte[]) value) + "'";
        } else if (value instanceof LocalDateTime) {
            return time((LocalDateTime) value);
        } else if (value instanceof Instant) {
            return time(LocalDateTime.ofInstant((Instant) value, ZoneOffset.UTC)) + "Z";
        } else if (value instanceof LocalTime) {
            return time(LocalDate.EPOCH.atTime((LocalTime) value)).substring(11);
        } else if (value instanceof Row) {
            Row row = (Row) value;
            return listed("(", Stream.iterate(0, i -> i + 1).limit(row.getArity()).map(row::getField), ")");
        } else if (value instanceof Map) {
            var entries = new TreeSet<String>();
            ((Map<?, ?>) value).forEach((k, v) -> entries.add(text(k) + "=" + text(v)));
            return "{" + String.join(", ", entries) + "}";
        } else if (value.getClass().isArray()) {
            Object array = value;
            return listed("[", Stream.iterate(0, i -> i + 1).limit(Array.getLength(array)).map(i -> Array.get(array, i)), "]");
        }
        return value.toString();
    }

    private static String listed(String open, Stream<?> values, String close) {
        return values.map(FlinkExpressions::text).collect(Collectors.joining(", ", open, close));
    }

    private static String number(String shortest) {
        switch (shortest) {
            case "NaN":
            case "Infinity":
            case "-Infinity":
                return shortest;
            case "-0.0":
                return "-0";
            default:
                return new BigDecimal(shortest).compareTo(BigDecimal.ZERO) == 0
                        ? "0"
                        : new BigDecimal(shortest).stripTrailingZeros().toPlainString();
        }
    }

    private static String time(LocalDateTime time) {
        String seconds = time.format(DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss"));
        return time.getNano() == 0 ? seconds : seconds + String.format(".%09d", time.getNano()).replaceAll("0+$", "");
    }
}
