SET 'tidemill.watermark.max-ahead' = '1 h';
SELECT 1;
