import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { AddBackend } from '../backends/add.tsx';
import { BackendCards } from '../backends/cards.tsx';
import { Models } from '../backends/models.tsx';
import { Button } from '../parts/button.tsx';
import { Page } from '../parts/page.tsx';
import { Tabs } from '../parts/tabs.tsx';
import '../styles/backends.css';

/** Where models are, and which are used (09 §8.12). */
export function BackendsPage() {
  const [path, navigate] = useLocation();
  const [params] = useSearchParams();
  const [adding, setAdding] = useState(params.get('add') !== null);
  const [added, setAdded] = useState(0);
  const selected = path.startsWith('/models') ? 'models' : 'backends';
  return (
    <Page
      title="Backends and models"
      actions={
        <Button look="primary" onClick={() => setAdding(true)}>
          Add a backend…
        </Button>
      }
    >
      <Tabs
        label="Backends and models"
        selected={selected}
        onSelect={(id) => navigate(`/${id}`)}
        tabs={[
          { id: 'backends', label: 'Backends' },
          { id: 'models', label: 'Models' },
        ]}
      >
        {selected === 'backends' ? <BackendCards key={added} onAdd={() => setAdding(true)} /> : <Models />}
      </Tabs>
      {adding ? <AddBackend onAdded={() => setAdded(added + 1)} onClose={() => setAdding(false)} /> : null}
    </Page>
  );
}
