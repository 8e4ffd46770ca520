import { describe, expect, it } from '@jest/globals';
import { onlyTells } from './plain-tellers.js';

describe('a line that only tells how the machine is', () => {
  it.each([
    'df -h',
    'ss -ltnp',
    'lsof -i :443',
    'curl -s localhost:8080/health | jq .status',
    'ps aux | grep nginx | head -n 5',
    'du -sh /var/* 2>/dev/null | sort -rh | head -20',
    'nginx -t 2>&1',
    'df -h; free -m',
    'openssl s_client -connect localhost:443 < /dev/null | openssl x509 -noout -dates',
    'journalctl -u nginx -n 50 | wc -l',
    'ss -tan | cut -d : -f 2 | uniq -c',
  ])('is %s', (line) => expect(onlyTells(line)).toBe(true));

  it.each([
    'awk 1 /var/log/x',
    "df -h | awk '{print $1}'",
    'df -h | sed p',
    'df -h | sort -o /etc/x',
    'df -h | sort --compress-program=sh',
    'df -h | sort -T /etc',
    'df -h > /etc/x',
    'df -h | tee x',
    'cat < /etc/shadow',
    'df -h; rm x',
    'df -h && sh x',
    'df $(id)',
    'df $x',
    'df &',
    '(df)',
    'xargs df',
    'find / -name x',
    './df',
    '/tmp/df',
    'timeout 5 df',
    'df | uniq a b',
    'df | jq "input_filename"',
    "zgrep x '/var/log/a\n;e id;'",
    'df; df; df; df; df; df',
    '',
  ])('is not %j', (line) => expect(onlyTells(line)).toBe(false));
});
