import { client } from '../data/client.ts';
import { leadOn } from '../data/lead-on.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';

/** An address may be of a chat that was renamed or deleted, or that is only wished for. */
export function Missing({
  name,
  now,
  onNow,
  onMade,
}: {
  readonly name: string;
  /** Its name by now, where it has another one. */
  readonly now: string | null;
  readonly onNow: (name: string) => void;
  readonly onMade: (lead: ReturnType<typeof leadOn>) => void;
}) {
  const create = useAction(() => client.createSession({ name }));
  const make = () => {
    const lead = leadOn();
    void create.run().then((made) => made !== null && onMade(lead));
  };
  return (
    <div className="missing stack tight">
      {now === null || now === name ? null : (
        <Button look="primary" onClick={() => onNow(now)}>
          Open it as <Safe text={now} />
        </Button>
      )}
      <Button busy={create.busy} onClick={make}>
        Start a chat with this name
      </Button>
      {create.error === null ? null : <ErrorNote error={create.error} />}
    </div>
  );
}
