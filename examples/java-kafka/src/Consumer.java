// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * An order-payment consumer on Kafka, with kafka-clients and JDBC (SQLite).
 *
 * <p>{@code Consumer naive} commits what it polled, then pays (settle before work): no order is
 * paid twice after a crash, because those that it held are never paid at all.
 *
 * <p>{@code Consumer mended} notes the event and pays in one transaction, and commits afterwards:
 * what comes again finds the note.
 */
public final class Consumer {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Connection db;
  private final KafkaConsumer<String, String> kafka;

  private Consumer(Connection db, KafkaConsumer<String, String> kafka) {
    this.db = db;
    this.kafka = kafka;
  }

  public static void main(String[] args) throws Exception {
    var file = Path.of(System.getenv("HARNESS_DIR"), "payments.db");
    try (var db = DriverManager.getConnection("jdbc:sqlite:" + file + "?busy_timeout=30000");
        var kafka = new KafkaConsumer<String, String>(settings())) {
      tables(db);
      var main = Thread.currentThread();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(kafka, main)));
      new Consumer(db, kafka).run(args[0].equals("naive"));
    }
  }

  private static Map<String, Object> settings() {
    return Map.of(
        "bootstrap.servers", System.getenv("KAFKA_BOOTSTRAP_SERVERS"),
        "group.id", System.getenv("KAFKA_GROUP_ID"),
        "key.deserializer", StringDeserializer.class,
        "value.deserializer", StringDeserializer.class,
        "auto.offset.reset", "earliest",
        "enable.auto.commit", false,
        "max.poll.records", 10,
        "session.timeout.ms", 2000,
        "heartbeat.interval.ms", 500);
  }

  private static void tables(Connection db) throws SQLException {
    try (var statement = db.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS payments (event_id TEXT NOT NULL, customer TEXT NOT NULL, amount INTEGER NOT NULL)");
      statement.execute("CREATE TABLE IF NOT EXISTS processed (event_id TEXT PRIMARY KEY)");
    }
    db.setAutoCommit(false);
  }

  private static void stop(KafkaConsumer<?, ?> kafka, Thread main) {
    kafka.wakeup();
    try {
      main.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(boolean naive) throws Exception {
    kafka.subscribe(List.of(System.getenv("KAFKA_TOPIC")));
    try {
      while (true) {
        var records = kafka.poll(Duration.ofMillis(200));
        if (naive) {
          commit(records);
        }
        for (var record : records) {
          take(record);
        }
        if (!naive) {
          commit(records);
        }
      }
    } catch (WakeupException e) {
      // asked to leave
    }
  }

  /** A commit that is refused is of a partition that has moved: its new owner has the records. */
  private void commit(ConsumerRecords<String, String> records) {
    if (records.isEmpty()) {
      return;
    }
    try {
      kafka.commitSync();
    } catch (WakeupException e) {
      throw e;
    } catch (KafkaException e) {
      System.err.println("not committed: " + e.getMessage());
    }
  }

  private void take(ConsumerRecord<String, String> record) throws Exception {
    var order = JSON.readTree(record.value());
    Thread.sleep(40); // the payment provider
    if (note(order)) {
      pay(order);
    }
    db.commit();
  }

  /** Notes the event; false if it was noted before. */
  private boolean note(JsonNode order) throws SQLException {
    try (PreparedStatement note = db.prepareStatement("INSERT OR IGNORE INTO processed (event_id) VALUES (?)")) {
      note.setString(1, order.get("event_id").asText());
      return note.executeUpdate() == 1;
    }
  }

  private void pay(JsonNode order) throws SQLException {
    try (PreparedStatement pay = db.prepareStatement("INSERT INTO payments (event_id, customer, amount) VALUES (?, ?, ?)")) {
      pay.setString(1, order.get("event_id").asText());
      pay.setString(2, order.get("customer").asText());
      pay.setInt(3, order.get("amount").asInt());
      pay.executeUpdate();
    }
  }
}
