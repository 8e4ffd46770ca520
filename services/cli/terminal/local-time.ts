// Times as people read them: where they are, and with the zone beside it (RFC 3339 with a space). What is for programs stays UTC.

/** `2026-11-23 14:01:02+01:00`, of a machine in UTC `2026-11-23 13:01:02Z`. `zone`: of IANA; that of this machine when absent. */
export function momentText(instant: string | number, zone?: string): string {
  const { date, clock, offset } = partsOf(instant, zone);
  return `${date} ${clock}${offset}`;
}

/** `2026-11-23 14:01:02.123+01:00`: for a log. */
export function preciseMomentText(ms: number, zone?: string): string {
  const { date, clock, offset } = partsOf(ms, zone);
  return `${date} ${clock}.${String(ms % 1_000).padStart(3, '0')}${offset}`;
}

/** `11-23 14:01+01:00`: for a column of a table. */
export function shortMomentText(instant: string | number, zone?: string): string {
  const { date, clock, offset } = partsOf(instant, zone);
  return `${date.slice('2026-'.length)} ${clock.slice(0, '14:01'.length)}${offset}`;
}

/** `14:01:02+01:00`. */
export function clockText(instant: string | number, zone?: string): string {
  const { clock, offset } = partsOf(instant, zone);
  return `${clock}${offset}`;
}

/** `2026-11-23`, as the calendar says where people are. */
export function dayText(instant: string | number, zone?: string): string {
  return partsOf(instant, zone).date;
}

interface Parts {
  readonly date: string;
  readonly clock: string;
  /** `Z` or `+01:00`. */
  readonly offset: string;
}

function partsOf(instant: string | number, zone: string | undefined): Parts {
  // In Swedish: 2026-11-23 14:01:02 GMT+01:00, and a minus sign that is no hyphen.
  const [date = '', clock = '', name = ''] = formatOf(zone).format(new Date(instant)).split(' ');
  const offset = name.slice('GMT'.length).replace('\u2212', '-');
  return { date, clock, offset: offset === '' || offset === '+00:00' ? 'Z' : offset };
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/** Making one takes a thousand times as long as using it. */
function formatOf(zone: string | undefined): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const two = '2-digit';
  const made = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
    timeZoneName: 'longOffset',
  });
  formats.set(zone, made);
  return made;
}
